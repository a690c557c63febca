/** Kinds of repositories over git: how each is found by its address, and the rules and records of a push to it. */

import type { Actor } from '../../../kernel/actor.ts';
import type { Visitor } from '../../../kernel/identity/token-visitor.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import { type ApplicationSettings, firstBranchName } from '../../../kernel/settings/definitions.ts';
import type { ObjectFolder } from '../../../platform/git/history/history.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { LargeObject } from '../../lfs/index.ts';

export type RepositoryRequest = {
  services: Needs<'config' | 'database' | 'settings' | 'repositories' | 'registered'>;
  settings: ApplicationSettings;
  visitor: Visitor;
  /** A fetch, or a push. */
  purpose: 'read' | 'write';
  /** The address without `.git`. */
  path: string;
};

/** Judges the refs of a push, under the lease of the repository. */
export type Judge = {
  /** The reason to refuse the update; undefined when it is allowed. */
  refusal(update: RefUpdate): string | undefined;
  /** Whether the ref's past may be rewritten. */
  mayForce(ref: string): boolean;
  /** Of updates that are judged by what they change, too, when git has the objects: why one is refused. */
  contents?: {
    isJudged(update: RefUpdate): boolean;
    /** Looks again whether there is anything to judge by: pushes take hours. */
    lookAgain?(): Promise<void>;
    refusal(
      objects: { git: GitFolder; place: ObjectFolder },
      updates: readonly RefUpdate[],
    ): Promise<string | undefined>;
  };
  /** Why the push may not bring these pointers of Git LFS; where there are large files. */
  pointersRefusal?(pointers: readonly LargeObject[]): Promise<string | undefined>;
  /** Why so many bytes are too many; else they count from now on. Where the size is limited. */
  sizeRefusal?(bytes: number): Promise<string | undefined>;
};

export type PushTarget = {
  key: RepositoryKey;
  /** The branch that HEAD of a new repository points to. */
  defaultBranch: string;
  /** Bytes of the largest pack that is taken; undefined without a limit. */
  largestPush: number | undefined;
  /** A folder of refs of which the visitor's fetches do not hear. */
  hiddenRefs?: string;
  /** Assigns a storage before the lease for a push, where the container may have none yet. */
  ensureStorage?(): Promise<void>;
  judge(): Promise<Judge>;
  /** Whose pushes others follow: a person's or a bot's to the project's own repository. */
  followed?: { projectId: number; actor: Actor; settings: ApplicationSettings };
  /** Records the push once the lease is `confirmed`, before the client gets its report. */
  record(
    git: GitFolder,
    push: { updates: readonly RefUpdate[]; options: readonly string[] },
    confirmed: Promise<unknown>,
  ): Promise<void>;
};

const MEBIBYTE = 1_048_576;

/** The fields of a push target that follow from the settings. */
export const pushDefaults = (
  settings: ApplicationSettings,
): Pick<PushTarget, 'defaultBranch' | 'largestPush'> => ({
  defaultBranch: firstBranchName(settings),
  largestPush: settings.receive_max_input_size ? settings.receive_max_input_size * MEBIBYTE : undefined,
});

export type RepositoryKind = {
  /**
   * The repository, when the visitor may fetch or push there: 401, 403 and 404 as the API. Undefined for an address of
   * another kind: then nothing was decided.
   */
  find(request: RepositoryRequest): Promise<PushTarget | undefined>;
};

/** The kinds beside projects' own repositories, which have all other addresses. No address is of two kinds. */
export const repositoryKinds = new Registry<RepositoryKind>();
