/** Reads the approvals of one merge request, with the people that its records name. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { selectPeople } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { byId, idArray, readTagged, taggedRows } from '../../../platform/db/tagged-rows.ts';
import { notFound } from '../../../platform/failure.ts';
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
): Promise<ShownApprovals | undefined> {
  const of = await readTagged<ApprovalRows & { people: UserBasicRow; found: ApprovedRow }>(
    db,
    [
      ...approvalSelects(),
      taggedRows('people', people),
      taggedRows('found', sql`select id, project_id, author_id, target_branch from approvable`),
    ],
    approvalCtes(ids, { readerId: actor?.id, isShown: true }),
  );
  const [row] = of('found');
  if (!row) return undefined;
  const loaded = loadedApprovals(of, settings)(row);
  const held = services.config.tier === 'free' ? optionalApprovals(loaded) : loaded;
  return { ...held, people: byId(of('people')) };
}

/** Those of a merge request that was found; 404 where it was deleted meanwhile. */
export const selectApprovals = async (
  reading: ApprovalReading,
  { id }: Pick<MergeRequestRow, 'id'>,
): Promise<ShownApprovals> => found(await readApprovals(reading, idArray([id])));

/** Those of the project's merge request with this number; 404 without it. */
export const findApprovals = async (
  reading: ApprovalReading,
  project: Pick<AuthorizedProject, 'id'>,
  iid: number,
): Promise<ShownApprovals> =>
  found(
    await readApprovals(
      reading,
      sql`array(select id from merge_requests where project_id = ${project.id} and iid = ${iid})`,
    ),
  );

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
