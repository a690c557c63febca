/** The kinds of repositories for a push: the rules for their refs, and the records that a push leaves. */
import type { AuthorizedProject } from '../../core/access/find.ts';
import type { Caller } from '../../core/identity/actor.ts';
import {
  projectRepository,
  type RepositoryKey,
  snippetRepository,
} from '../../core/repositories/containers.ts';
import { ensureGroupWikiStorage } from '../../core/repositories/group-wikis.ts';
import { guardRefsNow } from '../../core/repositories/protection.ts';
import { pushedDeletionRefusal } from '../../core/repositories/protection-rules.ts';
import { recordPush } from '../../core/repositories/pushes.ts';
import { recordSnippetFiles } from '../../core/repositories/snippet-files.ts';
import type { SnippetRow } from '../../core/repositories/snippet-records.ts';
import { recordWikiPush } from '../../core/repositories/wiki-pushes.ts';
import type { Services } from '../../core/services.ts';
import { type ApplicationSettings, firstBranchName } from '../../core/settings/definitions.ts';
import { fullRef, NO_OBJECT, shortRef } from '../../platform/git/names.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { headRef, readRef } from '../../platform/git/refs.ts';
import { type RefUpdate, setHead } from '../../platform/git/write.ts';

/** Judges the refs of a push, under the lease of the repository. */
export type Judge = {
  /** The reason to refuse the update; undefined when it is allowed. */
  refusal(update: RefUpdate): string | undefined;
  /** Whether the ref's past may be rewritten. */
  mayForce(ref: string): boolean;
};

export type PushTarget = {
  key: RepositoryKey;
  /** The branch that HEAD of a new repository points to. */
  defaultBranch: string;
  /** Bytes of the largest pack that is taken; undefined without a limit. */
  largestPush: number | undefined;
  /** Assigns a storage where there is none yet; before the lease for a push. */
  ensureStorage(): Promise<void>;
  judge(): Promise<Judge>;
  /** Records the push once the lease is `confirmed`, before the client gets its report. */
  record(git: GitFolder, updates: readonly RefUpdate[], confirmed: Promise<unknown>): Promise<void>;
};

const MEBIBYTE = 1_048_576;

const common = (settings: ApplicationSettings) => ({
  defaultBranch: firstBranchName(settings),
  largestPush: settings.receive_max_input_size ? settings.receive_max_input_size * MEBIBYTE : undefined,
  ensureStorage: async () => {},
});

/** A project's own repository. `caller` is undefined for deploy tokens: rules name none of them, and they have no events. */
export function projectPushTarget(
  services: Services,
  settings: ApplicationSettings,
  project: Pick<AuthorizedProject, 'id' | 'row' | 'role'>,
  caller: Caller,
): PushTarget {
  const { id, role, row } = project;
  const { db } = services.database;
  const base = common(settings);
  return {
    ...base,
    key: projectRepository(id),
    defaultBranch: row.default_branch ?? base.defaultBranch,
    async judge() {
      const guard = await guardRefsNow(db, { id, role, row }, caller, settings);
      return {
        refusal: (update) => guard.refusal(update) ?? pushedDeletionRefusal(guard.rules, update),
        mayForce(ref) {
          const short = shortRef(ref);
          return short?.kind !== 'branch' || guard.mayForce(short.name);
        },
      };
    },
    record: (git, updates, confirmed) => recordPush(services, { id }, caller, git, updates, confirmed),
  };
}

const free: Judge = { refusal: () => undefined, mayForce: () => true };

/** A wiki: users who may write pages may push them. */
export function wikiPushTarget(
  services: Services,
  settings: ApplicationSettings,
  key: RepositoryKey,
  caller: Caller,
): PushTarget {
  const { db } = services.database;
  return {
    ...common(settings),
    key,
    async ensureStorage() {
      if (key.kind === 'group') await ensureGroupWikiStorage(services, settings, key.id);
    },
    judge: async () => free,
    async record(git, updates, confirmed) {
      await confirmed;
      await showPushed(git, updates);
      await recordWikiPush(db, key, caller, git, updates);
    },
  };
}

/** Points HEAD to the branch that was pushed, where the one that it points to is not there. */
async function showPushed(git: GitFolder, updates: readonly RefUpdate[]): Promise<void> {
  const pushed = updates.flatMap(({ ref, after }) => {
    const short = shortRef(ref);
    return short?.kind === 'branch' && after !== NO_OBJECT ? [short.name] : [];
  });
  const [first] = pushed;
  if (first === undefined) return;
  if (!(await readRef(git, await headRef(git.folder)))) await setHead(git.folder, first);
}

const ONE_BRANCH = 'You can not create or delete branches.';

/** A snippet: one branch, whose files are listed in its row. */
export function snippetPushTarget(
  services: Services,
  settings: ApplicationSettings,
  snippet: SnippetRow,
): PushTarget {
  const { id, default_branch: branch } = snippet;
  const key = snippetRepository(id);
  return {
    ...common(settings),
    key,
    defaultBranch: branch,
    largestPush: settings.snippet_size_limit,
    judge: async () => ({
      refusal: ({ ref, after }) =>
        ref === fullRef('branch', branch) && after !== NO_OBJECT ? undefined : ONE_BRANCH,
      mayForce: () => true,
    }),
    async record(git, _updates, confirmed) {
      await confirmed;
      await recordSnippetFiles(services, git, id, branch);
    },
  };
}
