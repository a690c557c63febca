/** Changes the settings of approvals of a project or a top-level group. */
import { sql } from 'kysely';
import {
  auditedParent,
  isProject,
  parentColumns,
  type ResourceParent,
} from '../../../kernel/access/resource-parents.ts';
import { announceAll } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
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

/** Open merge requests of the project, or of those below the group, are approved by the project's rules again. */
async function removeOverrides(tx: Db, parent: ResourceParent): Promise<void> {
  const isBelow = isProject(parent)
    ? sql`m.project_id = ${parent.id}`
    : sql`m.project_id in (select p.id from projects p join namespaces n on n.id = p.namespace_id
        where ${parent.id} = any(n.ancestor_ids))`;
  const open = sql`select m.id from merge_requests m where m.state = 'opened' and ${isBelow}`;
  await runAsOne(ahead(tx), {
    statements: [
      sql`update merge_requests set approvals_before_merge = null
        where approvals_before_merge is not null and id in (${open})`,
      sql`delete from approval_rules where rule_type <> 'code_owner' and merge_request_id in (${open})`,
    ],
  });
}

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
    const overrides = 'allow_overrides_to_approver_list_per_merge_request';
    if (changed.includes(overrides) && changes[overrides] === false) await removeOverrides(tx, parent);
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
