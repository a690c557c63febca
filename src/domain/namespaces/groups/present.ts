/** Pages of groups as records: related records are loaded once for the whole page. */
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { selectSeenGroups } from '../../../kernel/access/group-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { selectCustomAttributes } from '../../../kernel/namespaces/custom-attribute-queries.ts';
import { type Group, type GroupView, presentGroup } from '../../../kernel/namespaces/group-records.ts';
import { groupSettings } from '../../../kernel/namespaces/group-settings.ts';
import { packageSettingsOf } from '../../../kernel/namespaces/package-settings.ts';
import { type ProjectView, presentProject } from '../../../kernel/namespaces/project-records.ts';
import type { GroupRow, ProjectRow } from '../../../kernel/namespaces/rows.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { renderDescription } from '../../markdown/index.ts';
import { noSizes, selectGroupSizes } from '../../repositories/index.ts';
import { noRelations, selectGroupProjects, selectGroupRelations, selectWikiStorages } from './queries.ts';
import type { GroupDetail } from './schema.ts';

export type PresentOptions = { statistics?: boolean | undefined; customAttributes?: boolean | undefined };

export const groupView = (
  services: Needs<'config' | 'baseUrl'>,
  settings: ApplicationSettings,
  caller: Caller,
): GroupView => ({
  baseUrl: services.baseUrl(),
  settings,
  tier: services.config.tier,
  admin: caller?.admin ?? false,
});

/** The records of a page, in its order. Statistics and custom attributes are for administrators. */
export async function presentGroups(
  db: Db,
  view: GroupView,
  rows: readonly GroupRow[],
  options: PresentOptions,
): Promise<Group[]> {
  const ids = rows.map((row) => row.id);
  const attributes =
    view.admin && options.customAttributes
      ? await selectCustomAttributes(db, 'namespace_id', ids)
      : undefined;
  const sizes = view.admin && options.statistics ? await selectGroupSizes(db, ids) : undefined;
  const storages = await selectWikiStorages(db, view, ids);
  return rows.map((row) =>
    presentGroup(view, row, {
      sizes: sizes && (sizes.get(row.id) ?? noSizes),
      customAttributes: attributes && (attributes.get(row.id) ?? []),
      wikiStorage: storages.get(row.id),
    }),
  );
}

/** The detailed record of one group, with its projects when they are requested; a new one has no relations. */
export async function presentGroupDetail(
  db: Db,
  view: GroupView,
  caller: Caller,
  group: AuthorizedGroup,
  options: PresentOptions & { projects: boolean; isNew?: boolean },
): Promise<GroupDetail> {
  const attributes =
    view.admin && options.customAttributes
      ? await selectCustomAttributes(db, 'namespace_id', [group.id])
      : undefined;
  const settings = groupSettings(group.row);
  const { shares, wikiStorage } = options.isNew ? noRelations : await selectGroupRelations(db, caller, group);
  const relations = {
    customAttributes: attributes && (attributes.get(group.id) ?? []),
    wikiStorage: view.admin && view.tier !== 'free' ? (wikiStorage ?? undefined) : undefined,
  };
  return {
    ...presentGroup(view, group.row, relations),
    shared_with_groups: shares,
    enabled_git_access_protocol: settings.enabled_git_access_protocol,
    ...(group.row.parent_id === null && {
      prevent_sharing_groups_outside_hierarchy: settings.prevent_sharing_groups_outside_hierarchy,
    }),
    ...(options.projects && (await presentProjectsOf(db, view, caller, group))),
    ...(view.tier !== 'free' && {
      membership_lock: settings.membership_lock,
      only_allow_merge_if_pipeline_succeeds: settings.only_allow_merge_if_pipeline_succeeds,
      allow_merge_on_skipped_pipeline: settings.allow_merge_on_skipped_pipeline,
      only_allow_merge_if_all_discussions_are_resolved:
        settings.only_allow_merge_if_all_discussions_are_resolved,
    }),
    ...(group.may('update_group') && packageSettingsOf(settings)),
  };
}

async function presentProjectsOf(db: Db, view: GroupView, caller: Caller, group: AuthorizedGroup) {
  const projectView: ProjectView = { ...view, signedIn: caller !== undefined };
  const rows = await selectGroupProjects(db, caller, group);
  const shares = rows.flatMap((row) => row.shared_with_groups ?? []);
  const seenGroups = await selectSeenGroups(db, caller, [...new Set(shares.map((share) => share.group_id))]);
  const presentRow = (row: ProjectRow) =>
    presentProject(projectView, row, { descriptionHtml: renderDescription(row.description), seenGroups });
  return {
    projects: rows.filter(({ is_own }) => is_own).map(presentRow),
    shared_projects: rows.filter(({ is_own }) => !is_own).map(presentRow),
  };
}
