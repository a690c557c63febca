/** A project's own repository for a push: the rules for its refs, and the records that a push leaves. */
import type { AuthorizedProject } from '../../core/access/find.ts';
import type { Caller } from '../../core/identity/actor.ts';
import { projectRepository } from '../../core/repositories/containers.ts';
import { guardRefsNow } from '../../core/repositories/protection.ts';
import { pushedDeletionRefusal } from '../../core/repositories/protection-rules.ts';
import { recordPush } from '../../core/repositories/pushes.ts';
import { type PushTarget, pushDefaults } from '../../core/repositories/repository-kinds.ts';
import type { Services } from '../../core/services.ts';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';
import { shortRef } from '../../platform/git/names.ts';

/** `caller` is undefined for deploy tokens: rules name none of them, and they have no events. */
export function projectPushTarget(
  services: Services,
  settings: ApplicationSettings,
  project: Pick<AuthorizedProject, 'id' | 'row' | 'role'>,
  caller: Caller,
): PushTarget {
  const { id, role, row } = project;
  const { db } = services.database;
  const base = pushDefaults(settings);
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
