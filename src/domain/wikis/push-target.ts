/** A wiki for a push: users who may write pages may push them. */

import type { Caller } from '../../kernel/actor.ts';
import type { RepositoryKey } from '../../kernel/repository-store.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { NO_OBJECT, shortRef } from '../../platform/git/names.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { headRef, readRef } from '../../platform/git/refs.ts';
import { type RefUpdate, setHead } from '../../platform/git/write.ts';
import { type Judge, type PushTarget, pushDefaults } from '../repositories/index.ts';
import { ensureGroupWikiStorage } from './group-wiki-actions.ts';
import { recordWikiPush } from './wiki-pushes.ts';

const free: Judge = { refusal: () => undefined, mayForce: () => true };

export function wikiPushTarget(
  services: Needs<'database' | 'repositories'>,
  settings: ApplicationSettings,
  key: RepositoryKey,
  caller: Caller,
): PushTarget {
  const { db } = services.database;
  return {
    ...pushDefaults(settings),
    key,
    ...(key.kind === 'group' && {
      ensureStorage: () => ensureGroupWikiStorage(services, settings, key.id),
    }),
    judge: async () => free,
    async record(git, { updates }, confirmed) {
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
