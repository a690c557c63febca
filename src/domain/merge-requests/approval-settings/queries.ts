/** Reads the settings of approvals: a project's or group's own, and those above it. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { isProject, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Db } from '../../../platform/db/database.ts';
import {
  type ApprovalSettings,
  effectiveSettings,
  groupDefaults,
  type InstanceLocks,
  instanceSettings,
  type Layer,
  projectDefaults,
  settingNames,
} from './rules.ts';

/** The top-level group, or the personal namespace, around a project or group. */
const rootOf = ({ row, id }: ResourceParent): number => row.ancestor_ids[0] ?? id;

/** A group in another, which has no settings of its own. */
export const isSubgroup = (parent: ResourceParent): boolean =>
  !isProject(parent) && rootOf(parent) !== parent.id;

export type SettingsInPlace = { own: ApprovalSettings; above: Layer[] };

/** The settings of a project or group, and those above it, outermost first. */
export async function selectSettings(
  db: Db,
  instance: InstanceLocks,
  parent: ResourceParent,
): Promise<SettingsInPlace> {
  const root = rootOf(parent);
  const projectId = isProject(parent) ? parent.id : null;
  const rows = await db
    .selectFrom('approval_settings')
    .select(['namespace_id', ...settingNames])
    .where((eb) => eb.or([eb('project_id', '=', projectId), eb('namespace_id', '=', root)]))
    .execute();
  const ofProject = rows.find(({ namespace_id }) => namespace_id === null);
  const ofRoot = rows.find(({ namespace_id }) => namespace_id !== null);
  const layer: Layer = { from: 'instance', settings: instanceSettings(instance) };
  if (!isProject(parent) && !isSubgroup(parent)) return { own: ofRoot ?? groupDefaults, above: [layer] };
  return {
    own: ofProject ?? (isProject(parent) ? projectDefaults : groupDefaults),
    above: [layer, { from: 'group', settings: ofRoot ?? groupDefaults }],
  };
}

/** Whether its merge requests may say by which rules they are approved. */
export async function allowsOwnRules(
  db: Db,
  instance: InstanceLocks,
  project: AuthorizedProject,
): Promise<boolean> {
  const { own, above } = await selectSettings(db, instance, project);
  return effectiveSettings(own, above).allow_overrides_to_approver_list_per_merge_request;
}

/** The count of the project's rule of any approver; 0 without one. */
export async function selectApprovalsBeforeMerge(db: Db, projectId: number): Promise<number> {
  const rule = await db
    .selectFrom('approval_rules')
    .select('approvals_required')
    .where('project_id', '=', projectId)
    .where('rule_type', '=', 'any_approver')
    .executeTakeFirst();
  return rule?.approvals_required ?? 0;
}
