/** The store of repositories, as every capability reaches it by the services; domain/repositories makes it. */
import type { GitFolder } from '../platform/git/objects.ts';
import type { RefUpdate } from '../platform/git/write.ts';

/** Containers of repositories: a project (its own and its wiki's), a snippet, a group (its wiki's). */
export type ContainerKind = 'project' | 'snippet' | 'group';

/** One repository: a container's own, or its wiki's. */
export type RepositoryKey = { kind: ContainerKind; id: number; wiki: boolean };

export type Purpose = 'read' | 'write' | 'tend';

/** A git push that a write does, for its record where the write is interrupted. */
export type PushIntent = { userId: number; updates: readonly RefUpdate[] };

export type RepositoryLease = {
  git: GitFolder;
  storage: string;
  /** How often the repository was written; undefined for one that is not recorded. */
  writes: number | undefined;
  /**
   * Called before a write is acknowledged: 503 unless the lease is still there, in the same storage. A move
   * checks for writes again under the lock that this waits for.
   */
  confirm(): Promise<void>;
  /** `cutOff`: git may have taken a write that was not recorded; announces it as interrupted. */
  release(cutOff?: boolean): Promise<void>;
};

export type Repositories = {
  /** Folders of the configured storages, by name. */
  readonly storages: ReadonlyMap<string, string>;
  /** The folder of a repository in a storage; 503 for a storage that is not configured. */
  folder(key: RepositoryKey, storage: string): string;
  open(key: RepositoryKey, storage: string): GitFolder;
  /**
   * Reads; `storage` is that of the container's row. Undefined when there is no repository yet. Work may run
   * twice, where a move has ended meanwhile.
   */
  read<T>(key: RepositoryKey, storage: string, work: (git: GitFolder) => Promise<T>): Promise<T | undefined>;
  /**
   * The present folder, without a lease: a move or removal may take the whole folder away. Undefined without
   * the container; 403 for the preparation of a write while it is read-only.
   */
  locate(key: RepositoryKey, purpose: Purpose): Promise<GitFolder | undefined>;
  /** Leases it: the folder stays until release(). 403 for a write while it is read-only. */
  lease(key: RepositoryKey, purpose: Purpose, pushed?: PushIntent): Promise<RepositoryLease>;
  /**
   * Leases it for writing while the work runs, and creates it first if needed. `intend` says what the work will push, for its record
   * where it is interrupted.
   */
  write<T>(
    key: RepositoryKey,
    defaultBranch: string,
    work: (git: GitFolder, intend: (pushed: PushIntent) => Promise<void>) => Promise<T>,
  ): Promise<T>;
  /** The number of leases of the container for these purposes, without dead processes. */
  uses(kind: ContainerKind, id: number, purposes: readonly Purpose[], storage?: string): Promise<number>;
  /** Stops reading the folder, which is being removed or was replaced. */
  forget(key: RepositoryKey, storage: string): void;
  stop(): void;
};
