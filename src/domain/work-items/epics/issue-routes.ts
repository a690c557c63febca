/**
 * Endpoints of issues in epics: an issue has one epic at most (facts: Epics). Issues that the reader may not
 * read are neither shown nor counted.
 */
import { sql } from 'kysely';
import Type from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import { endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict, forbidden, notFound } from '../../../platform/failure.ts';
import { offsetPage, type Page, type PageRequest } from '../../../platform/pagination/page.ts';
import { findIssueById } from '../issues/records/issue-find.ts';
import { type IssueReading, presentIssues } from '../issues/records/issue-records.ts';
import type { IssueRow } from '../issues/records/issue-rows.ts';
import { visibleIssues } from '../issues/records/issue-visibility.ts';
import { updateIssue } from '../issues/writing/issue-writes.ts';
import { atBothPaths, type EpicsPath } from './paths.ts';
import { type Presenting, wholePage } from './present.ts';
import { findEpic } from './records/epic-find.ts';
import { presentEpics } from './records/epic-records.ts';
import type { EpicRow } from './records/epic-rows.ts';
import {
  AssignIssue,
  EpicIssueLinkRecord,
  EpicIssueRecord,
  MoveEpicIssue,
  OneEpic,
  OneEpicIssue,
} from './schema.ts';
import { addSystemNoteOfIssue } from './writing/epic-notes.ts';
import { positionsAfterMove } from './writing/epic-positions.ts';
import { writePositions } from './writing/epic-tree.ts';

type EpicIssueRow = IssueRow & { epic_issue_id: number; epic_position: number };

/** The epic's issues that the reader may read, in their order, and their number. */
async function selectIssues(
  db: Db,
  reader: Caller,
  epicId: number,
  page: PageRequest & { kind: 'offset' },
): Promise<Page<EpicIssueRow>> {
  const { ctes, condition } = visibleIssues(
    reader,
    sql`p.id in (select own.project_id from epic_issues l join issues own on own.id = l.issue_id where l.epic_id = ${epicId})`,
  );
  const seen = sql`epic_issues l join issues i on i.id = l.issue_id join issue_projects v on v.id = i.project_id
    where l.epic_id = ${epicId} and ${condition}`;
  const { rows } = await sql<EpicIssueRow>`with ${ctes}
    select i.*, l.id as epic_issue_id, l.relative_position as epic_position from ${seen}
    order by l.relative_position, l.id limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return offsetPage(page, rows, async () => {
    const counted = await sql<{ count: number }>`with ${ctes}
      select count(*) as count from (select from ${seen} limit ${page.countLimit + 1}) counted`.execute(db);
    return counted.rows[0]?.count ?? 0;
  });
}

async function presentIssuesOf(
  context: IssueReading,
  rows: readonly EpicIssueRow[],
): Promise<EpicIssueRecord[]> {
  const records = await presentIssues(context, rows, { across: true });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return records.flatMap((record) => {
    const row = byId.get(record.id);
    return row ? [{ ...record, epic_issue_id: row.epic_issue_id, relative_position: row.epic_position }] : [];
  });
}

type Link = { id: number; issue_id: number; relative_position: number };

async function presentLink(
  context: Presenting & IssueReading,
  epic: EpicRow,
  issue: IssueRow,
  { id, relative_position }: Link,
): Promise<EpicIssueLinkRecord> {
  const [[epicRecord], [issueRecord]] = await Promise.all([
    presentEpics(context, [epic], { groupId: context.subject.id }),
    presentIssues(context, [issue], { across: true }),
  ]);
  return { id, relative_position, epic: found(epicRecord), issue: found(issueRecord) };
}

const selectLink = (
  db: Db,
  epicId: number,
  by: 'id' | 'issue_id',
  value: number,
): Promise<Link | undefined> =>
  db
    .selectFrom('epic_issues')
    .select(['id', 'issue_id', 'relative_position'])
    .where('epic_id', '=', epicId)
    .where(by, '=', value)
    .executeTakeFirst();

type Acting = { db: Db; services: IssueReading['services']; actor: Actor };

/** An issue to be changed: 404 unless the actor may read it, 403 unless they plan in its project. */
async function findForChange(
  { db, services, actor }: Acting,
  id: number,
): Promise<{ issue: IssueRow; project: AuthorizedProject }> {
  const all = await findIssueById(db, services.database.points, actor, id);
  if (!all.project.may('update_issues')) throw forbidden();
  return all;
}

/** An issue of the epic by its epic_issues id; 404 unless the actor may read it. */
async function findOf(context: Acting, epic: EpicRow, epicIssueId: number) {
  const link = found(await selectLink(context.db, epic.id, 'id', epicIssueId));
  const { db, services, actor } = context;
  return { link, ...(await findIssueById(db, services.database.points, actor, link.issue_id)) };
}

/** Moves an issue among those of its epic, one move at a time. */
const moveIssue = (
  db: Db,
  epicId: number,
  id: number,
  move: { move_before_id?: number; move_after_id?: number },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await tx.selectFrom('epics').select('id').where('id', '=', epicId).forUpdate().execute();
    const links = await tx
      .selectFrom('epic_issues')
      .select(['id', 'relative_position'])
      .where('epic_id', '=', epicId)
      .orderBy('relative_position')
      .orderBy('id')
      .execute();
    if (!links.some((link) => link.id === id)) throw notFound();
    await writePositions(tx, 'epic_issues', positionsAfterMove(links, id, move));
  });

const endpointsAt = (path: EpicsPath) => {
  const issues = `${path}/:epic_iid/issues` as const;
  return {
    list: listing({
      method: 'GET',
      path: issues,
      summary: 'Issues of an epic that the caller sees, in their order.',
      access: onGroup('read_epics'),
      tier: 'premium',
      page: 'offset',
      input: OneEpic,
      item: EpicIssueRecord,
      handle: async (context) => {
        const { db, actor, subject, input, page } = context;
        const epic = await findEpic(db, subject, actor, input.epic_iid);
        const listed = await selectIssues(db, actor, epic.id, page.kind === 'offset' ? page : wholePage);
        return { ...listed, items: await presentIssuesOf(context, listed.items) };
      },
    }),
    add: endpoint({
      method: 'POST',
      path: `${issues}/:issue_id`,
      summary: 'Puts an issue in an epic; it leaves the one that it was in.',
      access: onGroup('update_epics'),
      also: [409],
      tier: 'premium',
      input: AssignIssue,
      reply: EpicIssueLinkRecord,
      handle: async (context) => {
        const { db, actor, subject, input } = context;
        const epic = await findEpic(db, subject, actor, input.epic_iid);
        const { issue, project } = await findForChange(context, input.issue_id);
        if (await selectLink(db, epic.id, 'issue_id', issue.id)) throw conflict('Issue(s) already assigned');
        const updated = await updateIssue(context, project, issue, { epic_id: epic.id });
        const link = found(await selectLink(db, epic.id, 'issue_id', issue.id));
        await addSystemNoteOfIssue(db, actor, { epic, group: subject }, { issue, project }, 'added');
        return presentLink(context, epic, updated, link);
      },
    }),
    move: endpoint({
      method: 'PUT',
      path: `${issues}/:issue_id`,
      summary: 'Moves an issue among those of its epic; the answer is the first hundred of them.',
      access: onGroup('update_epics'),
      tier: 'premium',
      input: MoveEpicIssue,
      reply: Type.Array(EpicIssueRecord),
      handle: async (context) => {
        const { db, actor, subject, input } = context;
        const epic = await findEpic(db, subject, actor, input.epic_iid);
        const { link } = await findOf(context, epic, input.issue_id);
        await moveIssue(db, epic.id, link.id, input);
        return presentIssuesOf(context, (await selectIssues(db, actor, epic.id, wholePage)).items);
      },
    }),
    remove: endpoint({
      method: 'DELETE',
      path: `${issues}/:issue_id`,
      summary: 'Takes an issue out of an epic.',
      access: onGroup('update_epics'),
      tier: 'premium',
      status: 200,
      input: OneEpicIssue,
      reply: EpicIssueLinkRecord,
      handle: async (context) => {
        const { db, actor, subject, input, unmodified } = context;
        const epic = await findEpic(db, subject, actor, input.epic_iid);
        const { link, issue, project } = await findOf(context, epic, input.issue_id);
        if (!project.may('update_issues')) throw forbidden();
        unmodified(issue.updated_at);
        const updated = await updateIssue(context, project, issue, { epic_id: null });
        await addSystemNoteOfIssue(db, actor, { epic, group: subject }, { issue, project }, 'removed');
        return presentLink(context, epic, updated, link);
      },
    }),
  };
};

export const epicIssueEndpoints = atBothPaths(endpointsAt);
