/** Changes the settings of approvals of a project or a top-level group. */
import {
  auditedParent,
  isProject,
  parentColumns,
  type ResourceParent,
} from '../../../kernel/access/resource-parents.ts';
import { announceAll } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest, invalid } from '../../../platform/failure.ts';
import { setApprovalsBeforeMerge } from '../approval-rules/any-approver-actions.ts';
import { lockRules } from '../approval-rules/queries.ts';
import { isSubgroup, selectSettings } from './queries.ts';
import {
  type ApprovalSettingName,
  type ApprovalSettings,
  type InstanceLocks,
  settingNames,
  settingProblems,
} from './rules.ts';

export type SettingsChange = {
  settings: Partial<ApprovalSettings>;
  approvalsBeforeMerge?: number | undefined;
  /** The names of settings in the request, where they are others. */
  names?: Readonly<Partial<Record<ApprovalSettingName, string>>>;
};

/** Changes the settings that are given; 400 for one that is locked, or that contradicts another. */
export async function updateSettings(
  db: Db,
  actor: Actor,
  instance: InstanceLocks,
  parent: ResourceParent,
  { settings: changes, approvalsBeforeMerge, names = {} }: SettingsChange,
): Promise<void> {
  if (isSubgroup(parent)) throw badRequest('only top-level groups have settings of approvals');
  await inTransaction(db, async (tx) => {
    await lockRules(tx, parent);
    const { own, above } = await selectSettings(tx, instance, parent);
    const found = settingProblems(own, changes, above);
    const problems = settingNames.flatMap((name) => {
      const messages = found[name];
      return messages ? [[names[name] ?? name, messages] as const] : [];
    });
    if (problems.length > 0) throw invalid(Object.fromEntries(problems));
    const changed = settingNames.filter((name) => changes[name] !== undefined && changes[name] !== own[name]);
    const values = Object.fromEntries(settingNames.map((name) => [name, changes[name] ?? own[name]]));
    if (changed.length > 0)
      await ahead(tx)
        .insertInto('approval_settings')
        // The names above are those of the settings.
        .values({ ...parentColumns(parent), ...(values as ApprovalSettings) })
        .onConflict((conflict) =>
          conflict.column(isProject(parent) ? 'project_id' : 'namespace_id').doUpdateSet(values),
        )
        .execute();
    if (approvalsBeforeMerge !== undefined && isProject(parent))
      await setApprovalsBeforeMerge(tx, parent.id, approvalsBeforeMerge);
    await announceAll(
      tx,
      changed.map((name) => ({
        author: actor,
        audit: {
          entity: auditedParent(parent),
          event: 'approval_setting_updated',
          details: { change: name, from: own[name], to: values[name] ?? own[name] },
        },
      })),
    );
  });
}
