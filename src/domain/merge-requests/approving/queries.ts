/** Reads the approvals of one merge request, with the people that its records name. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { projectLevel } from '../../../kernel/access/membership-queries.ts';
import { mayInProjects } from '../../../kernel/access/policy-sql.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { selectPeople } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { byId, idArray, readTagged, taggedRows } from '../../../platform/db/tagged-rows.ts';
import { notFound } from '../../../platform/failure.ts';
import { selectChoosers } from '../../notifications/index.ts';
import { selectNamedUsers } from '../../repositories/index.ts';
import {
  type ApprovalRows,
  type ApprovedRow,
  type LoadedApprovals,
  loadedApprovals,
  optionalApprovals,
} from '../approvals/loaded.ts';
import { approvalCtes, approvalSelects } from '../approvals/queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

export type ApprovalReading = {
  db: Db;
  services: Needs<'config' | 'baseUrl'>;
  settings: ApplicationSettings;
  actor: Caller;
};

export type ShownApprovals = LoadedApprovals & { people: ReadonlyMap<number, UserBasicRow> };

const people = selectPeople(sql`array(
  select user_id from merge_request_approvals where merge_request_id in (select id from approvable)
  union all select unnest(user_ids) from rule_approvers
  union all select user_id from approval_rule_users where rule_id in (select id from approvable_rules))`);

/** The approvals and rules, with the first approvers of each, by one statement; undefined without a merge request. */
async function readApprovals(
  { db, services, settings, actor }: ApprovalReading,
  ids: RawBuilder<unknown>,
  targetBranch?: string,
): Promise<ShownApprovals | undefined> {
  const of = await readTagged<ApprovalRows & { people: UserBasicRow; found: ApprovedRow }>(
    db,
    [
      ...approvalSelects(),
      taggedRows('people', people),
      taggedRows(
        'found',
        sql`select id, project_id, author_id, target_branch, approvals_before_merge from approvable`,
      ),
    ],
    approvalCtes(ids, { readers: actor && sql`select ${actor.id}::bigint as user_id`, isShown: true }),
  );
  const [row] = of('found');
  if (!row) return undefined;
  const loaded = loadedApprovals(of, settings)({ ...row, target_branch: targetBranch ?? row.target_branch });
  const held = services.config.tier === 'free' ? optionalApprovals(loaded) : loaded;
  return { ...held, people: byId(of('people')) };
}

/** Those of a merge request that was found; 404 where it was deleted meanwhile. */
export const selectApprovals = async (
  reading: ApprovalReading,
  { id }: Pick<MergeRequestRow, 'id'>,
): Promise<ShownApprovals> => found(await readApprovals(reading, idArray([id])));

/** Those of the project's merge request with this number, or as they would be for another branch; 404 without it. */
export const findApprovals = async (
  reading: ApprovalReading,
  project: Pick<AuthorizedProject, 'id'>,
  iid: number,
  targetBranch?: string,
): Promise<ShownApprovals> =>
  found(
    await readApprovals(
      reading,
      sql`array(select id from merge_requests where project_id = ${project.id} and iid = ${iid})`,
      targetBranch,
    ),
  );

type Chooser = { user_id: number; may_update: boolean };
type CallableRow = ApprovedRow & Pick<MergeRequestRow, 'iid' | 'title' | 'discussion_locked'>;

/** So many of those who chose to be told are. */
const MAX_CHOOSERS = 1_000;

/** The approvals of an open merge request, with those who chose to be told of what they can approve, by one statement. */
export async function selectCallable(
  db: Db,
  settings: ApplicationSettings,
  project: AuthorizedProject,
  id: number,
): Promise<{ row: CallableRow; loaded: LoadedApprovals; choosers: Chooser[] } | undefined> {
  const place = { projectId: project.id, ancestorIds: project.row.ancestor_ids };
  const level = sql.raw(projectLevel('k.user_id', '(select today from approval_day)'));
  const chosen = sql`select distinct user_id from (${selectChoosers('approver', place)}) c
    order by user_id limit ${sql.lit(MAX_CHOOSERS)}`;
  const named = sql`select user_id from approval_rule_users where rule_id in (select id from approvable_rules)
    union select o.user_id from approvable_rules f, lateral (${selectNamedUsers()}) o`;
  const of = await readTagged<ApprovalRows & { choosers: Chooser; found: CallableRow }>(
    db,
    [
      ...approvalSelects(),
      taggedRows(
        'choosers',
        sql`select k.user_id, ${mayInProjects('update_merge_requests', undefined, level)} as may_update
          from choosers k join projects p on p.id = ${project.id} join namespaces n on n.id = p.namespace_id`,
      ),
      taggedRows(
        'found',
        sql`select id, iid, project_id, author_id, target_branch, approvals_before_merge, title, discussion_locked
          from merge_requests where id = ${id} and state = 'opened'`,
      ),
    ],
    sql`choosers as materialized (${chosen}), ${approvalCtes(idArray([id]), {
      readers: sql`select user_id from choosers union ${named}`,
    })}`,
  );
  const [row] = of('found');
  return row && { row, loaded: loadedApprovals(of, settings)(row), choosers: of('choosers') };
}

/** The merge request of the project by its number, locked until the transaction ends; 404 without it. */
export async function lockNumbered(tx: Db, project: { id: number }, iid: number): Promise<MergeRequestRow> {
  const row = await tx
    .selectFrom('merge_requests')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('iid', '=', iid)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}
