/** A project's own repository for a push: the rules for its refs, and the records that a push leaves. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Caller, jobCredentialOf } from '../../../kernel/actor.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { instanceLimit, selectUsage, takeRoom } from '../../../kernel/repository-size/actions.ts';
import { isLimited, judge, newChangesRefusal, pushRefusal } from '../../../kernel/repository-size/rules.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import { hasLocks, refuseMissing } from '../../lfs/index.ts';
import { refuseOwned } from '../code-owners/refuse-owned.ts';
import { isPremium } from '../protection/present.ts';
import { guardRefs, isOwned } from '../protection/protection.ts';
import { pushedDeletionRefusal } from '../protection/protection-rules.ts';
import { judgeByRule } from '../push-rules/judge.ts';
import { recordPush } from '../pushes/pushes.ts';
import { refuseLocked } from '../pushes/refuse-locked.ts';
import { projectRepository } from '../store/containers.ts';
import { type PushTarget, pushDefaults } from '../store/repository-kinds.ts';

/**
 * `caller` is undefined for deploy tokens: rules name none of them, and they have no events. `findShared` is of callers who
 * push to shared branches alone.
 */
export function projectPushTarget(
  services: Needs<'config' | 'database' | 'settings'>,
  settings: ApplicationSettings,
  project: Pick<AuthorizedProject, 'id' | 'row' | 'role'>,
  caller: Caller,
  findShared?: () => Promise<ReadonlySet<string>>,
): PushTarget {
  const { id, row } = project;
  const { db } = services.database;
  const byJob = jobCredentialOf(caller) !== undefined;
  const base = pushDefaults(settings);
  return {
    ...base,
    key: projectRepository(id),
    defaultBranch: row.default_branch ?? base.defaultBranch,
    async judge() {
      const ofInstance = instanceLimit(services, settings);
      const guard = await guardRefs(db, project, caller, settings, await findShared?.());
      const usage = isLimited(guard.rules.sizeLimit, ofInstance)
        ? await selectUsage(db, id, ofInstance)
        : undefined;
      const above = usage && judge(usage, 0) === 'is above' ? pushRefusal(usage) : undefined;
      const { lfs_enabled } = projectSettings(row);
      const { pushRule } = guard.rules;
      let { hasLocks: isLocked } = guard.rules;
      const rule = isPremium(services)
        ? await judgeByRule(db, pushRule, row.default_branch ?? base.defaultBranch, caller?.id)
        : undefined;
      return {
        refusal: (update) =>
          guard.refusal(update) ??
          pushedDeletionRefusal(guard.rules, update) ??
          rule?.nameRefusal(update) ??
          (update.after === NO_OBJECT ? undefined : above),
        mayForce(ref) {
          const short = shortRef(ref);
          return short?.kind !== 'branch' || guard.mayForce(short.name);
        },
        ...((isPremium(services) || isLocked || lfs_enabled) && {
          contents: {
            isJudged: (update) =>
              isLocked ||
              (isPremium(services) && isOwned(guard, update)) ||
              rule?.readsContents(update) === true,
            async lookAgain() {
              isLocked ||= lfs_enabled && (await hasLocks(services.database.points, id));
            },
            async refusal(objects, updates) {
              for (const update of isPremium(services) ? updates : []) {
                if (!isOwned(guard, update)) continue;
                const refusal = await refuseOwned(db, objects, project, caller, update);
                if (refusal !== undefined) return refusal;
              }
              const refusal = await rule?.contentsRefusal(objects.place, updates);
              if (refusal !== undefined || !isLocked) return refusal;
              return refuseLocked(db, objects, project, caller, updates);
            },
          },
        }),
        ...(lfs_enabled && {
          pointersRefusal: (pointers) => refuseMissing(db, project, pointers),
        }),
        ...(usage && {
          async sizeRefusal(bytes) {
            const { verdict, ...reached } = await takeRoom(db, id, ofInstance, bytes);
            if (verdict === 'is above') return pushRefusal(reached);
            return verdict === 'would exceed' ? newChangesRefusal(reached) : undefined;
          },
        }),
      };
    },
    // What options of a push ask for, such as a merge request, is not for jobs.
    ...(caller && !byJob && { followed: { projectId: id, actor: caller, settings } }),
    record: (git, { updates, options }, confirmed) =>
      recordPush(services, { id, empty: row.empty_repo }, caller, git, updates, {
        confirmed,
        options,
        byJob,
      }),
  };
}
