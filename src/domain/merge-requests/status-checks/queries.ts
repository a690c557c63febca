/** Reads external status checks with their branches and responses. */
import { type Selectable, sql } from 'kysely';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { ExternalStatusChecksTable } from '../../../platform/db/rows.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { isForBranch } from '../approval-rules/rules.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { CheckResponse } from './rules.ts';

/** A check with the ids of its branches, in ascending order. */
export type CheckRow = Selectable<ExternalStatusChecksTable> & { branch_ids: number[] };

type OfProject = { id: number };

const checks = (db: Db, { id }: OfProject) =>
  db
    .selectFrom('external_status_checks')
    .selectAll()
    .select(
      sql<number[]>`array(select protected_branch_id from external_status_check_branches where check_id = id
        order by protected_branch_id)`.as('branch_ids'),
    )
    .where('project_id', '=', id);

/** A page of the project's, the oldest first. */
export const selectChecks = (db: Db, project: OfProject, page: PageRequest) =>
  selectPage(db, checks(db, project), page, { by: 'id', sort: 'asc' }, { id: 'id' });

export const selectCheck = (db: Db, project: OfProject, id: number): Promise<CheckRow | undefined> =>
  checks(db, project).where('id', '=', id).executeTakeFirst();

export async function countChecks(tx: Db, { id }: OfProject): Promise<number> {
  const { count } = await tx
    .selectFrom('external_status_checks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', id)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The branches of the check `c`. */
const patternsOf = sql<string[]>`array(select b.name from external_status_check_branches o
  join protected_branches b on b.id = o.protected_branch_id where o.check_id = c.id)`;

const isFor = (patterns: readonly string[], branch: string): boolean =>
  isForBranch({ patterns, appliesToAllProtected: false }, branch, []);

/** The merge request of this number, where the check is for it. */
export async function selectChecked(
  db: Db,
  { id }: OfProject,
  iid: number,
  checkId: number,
): Promise<Pick<MergeRequestRow, 'id' | 'project_id' | 'head_sha' | 'state'> | undefined> {
  const row = await db
    .selectFrom('merge_requests as m')
    .innerJoin('external_status_checks as c', 'c.project_id', 'm.project_id')
    .select(['m.id', 'm.project_id', 'm.head_sha', 'm.state', 'm.target_branch', patternsOf.as('patterns')])
    .where('m.project_id', '=', id)
    .where('m.iid', '=', iid)
    .where('c.id', '=', checkId)
    .executeTakeFirst();
  return row && isFor(row.patterns, row.target_branch) ? row : undefined;
}

/** A check that is for a merge request, and its last response. */
export type CheckOfMergeRequest = Selectable<ExternalStatusChecksTable> & {
  response: CheckResponse | undefined;
};

/** The checks that are for the merge request, the oldest first; they are few. */
export async function selectChecksFor(
  db: Db,
  { id, project_id, target_branch }: Pick<MergeRequestRow, 'id' | 'project_id' | 'target_branch'>,
): Promise<CheckOfMergeRequest[]> {
  const rows = await db
    .selectFrom('external_status_checks as c')
    .leftJoin('status_check_responses as r', (join) =>
      join.onRef('r.check_id', '=', 'c.id').on('r.merge_request_id', '=', id),
    )
    .selectAll('c')
    .select(['r.sha', 'r.status', 'r.updated_at as responded_at'])
    .select(patternsOf.as('patterns'))
    .where('c.project_id', '=', project_id)
    .orderBy('c.id')
    .execute();
  return rows
    .filter(({ patterns }) => isFor(patterns, target_branch))
    .map(({ sha, status, responded_at, patterns: _, ...check }) => ({
      ...check,
      response:
        sha !== null && status !== null && responded_at !== null
          ? { sha, status: status as CheckResponse['status'], updatedAt: responded_at }
          : undefined,
    }));
}

/** What the keys of jobs that send for one top-level namespace begin with, and how many of them wait: the turn of the next one. */
export async function selectTurn(db: Db, projectId: number): Promise<{ share: string; turn: number }> {
  const { rows } = await sql<{ share: string; turn: number }>`
    select s.share, (select least(count(*), 32767)::integer from graphile_worker.jobs j
      where starts_with(j.key, s.share) and j.attempts < j.max_attempts) as turn
    from (select 'status checks ' || n.ancestor_ids[1] || ' ' as share from projects p
      join namespaces n on n.id = p.namespace_id where p.id = ${projectId}) s`.execute(db);
  return found(rows[0]);
}
