/** Pages of projects as records: related records are loaded once for the whole page. */

import { selectSeenGroups } from '../../../../kernel/access/group-list-queries.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import { selectCustomAttributes } from '../../../../kernel/namespaces/custom-attribute-queries.ts';
import {
  type BasicProject,
  type FullProject,
  type ProjectView,
  presentBasicProject,
  presentProject,
} from '../../../../kernel/namespaces/project-records.ts';
import type { ReachedProjectRow } from '../../../../kernel/namespaces/rows.ts';
import { MAINTAINER, OWNER, REPORTER } from '../../../../kernel/policy/roles.ts';
import type { Needs } from '../../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../../kernel/settings/definitions.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { renderDescription } from '../../../markdown/index.ts';
import { presentSource, selectSources } from '../../../mirrors/index.ts';
import { noSizes, selectProjectSizes } from '../../../repositories/index.ts';
import { selectVisibleProjects } from './queries.ts';

export type PresentOptions = { simple: boolean; statistics: boolean; customAttributes: boolean };

export const projectView = (
  services: Needs<'config' | 'baseUrl'>,
  settings: ApplicationSettings,
  caller: Caller,
): ProjectView => ({
  baseUrl: services.baseUrl(),
  settings,
  admin: caller?.admin ?? false,
  signedIn: caller !== undefined,
  tier: services.config.tier,
});

/** The records of a page, in its order; anonymous callers and `simple` get the basic one. */
export async function presentProjects(
  db: Db,
  view: ProjectView,
  caller: Caller,
  rows: readonly ReachedProjectRow[],
  options: PresentOptions,
): Promise<(BasicProject | FullProject)[]> {
  const attributes =
    options.customAttributes && view.admin
      ? await selectCustomAttributes(
          db,
          'project_id',
          rows.map((row) => row.id),
        )
      : undefined;
  const basic = options.simple || !view.signedIn;
  const forkIds = basic
    ? []
    : rows.flatMap((row) => (row.forked_from_id === null ? [] : [row.forked_from_id]));
  const forks = forkIds.length === 0 ? new Map() : await selectVisibleProjects(db, caller, forkIds);
  const measured = (row: ReachedProjectRow) =>
    options.statistics && !basic && (view.admin || Math.max(row.level_group, row.level_project) >= REPORTER);
  const sizes = await selectProjectSizes(
    db,
    rows.filter(measured).map((row) => row.id),
  );
  const maintained = (row: ReachedProjectRow) =>
    view.admin ||
    (row.owner !== null && row.owner.id === caller?.id) ||
    Math.max(row.level_group, row.level_project) >= MAINTAINER;
  const sources = await selectSources(db, basic ? [] : rows.filter(maintained).map((row) => row.id));
  const seenGroups = await selectSeenGroups(db, caller, basic ? [] : sharedGroupIds(rows));
  return rows.map((row) => {
    const own = attributes && { custom_attributes: attributes.get(row.id) ?? [] };
    if (basic) return withOwn(presentBasicProject(view, row), own);
    const forkedFrom = row.forked_from_id === null ? undefined : forks.get(row.forked_from_id);
    // The owner reaches a personal namespace directly, not through a group.
    const owned = row.owner !== null && row.owner.id === caller?.id;
    const levels = {
      project: owned ? OWNER : row.level_project,
      group: owned ? 0 : row.level_group,
      notifiedProject: row.notified_project,
      notifiedGroup: row.notified_group,
    };
    const source = sources.get(row.id);
    const sides = {
      descriptionHtml: renderDescription(row.description),
      levels,
      seenGroups,
      ...(source && { source: presentSource(source) }),
      ...(measured(row) && { sizes: sizes.get(row.id) ?? noSizes }),
      ...(forkedFrom && { forkedFrom }),
    };
    return withOwn(presentProject(view, row, sides), own);
  });
}

/** A record has many fields: it is copied only when there are some to add. */
const withOwn = <T extends object, O extends object>(record: T, own: O | undefined): T =>
  own === undefined ? record : { ...record, ...own };

const sharedGroupIds = (rows: readonly ReachedProjectRow[]): number[] =>
  rows.flatMap((row) => (row.shared_with_groups ?? []).map((share) => share.group_id));
