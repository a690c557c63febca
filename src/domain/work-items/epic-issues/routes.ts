/**
 * Endpoints of issues in epics: an issue has one epic at most (facts: Epics). Issues that the reader may not
 * read are neither shown nor counted.
 */
import Type from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import type { Db } from '../../../platform/db/database.ts';
import { conflict, forbidden } from '../../../platform/failure.ts';
import { atBothPaths, type EpicsPath } from '../epics/paths.ts';
import { type Presenting, wholePage } from '../epics/present.ts';
import { presentEpics } from '../epics/records/epic-records.ts';
import type { EpicRow } from '../epics/records/epic-rows.ts';
import { findEpic } from '../epics/records/find-queries.ts';
import { OneEpic } from '../epics/schema.ts';
import { addSystemNoteOfIssue } from '../epics/writing/epic-notes.ts';
import { findIssueById } from '../issues/records/find-queries.ts';
import { type IssueReading, presentIssues } from '../issues/records/issue-records.ts';
import type { IssueRow } from '../issues/records/issue-rows.ts';
import { updateIssue } from '../issues/writing/actions.ts';
import { moveIssue } from './actions.ts';
import { type EpicIssueRow, type Link, selectIssues, selectLink } from './queries.ts';
import { AssignIssue, EpicIssueLinkRecord, EpicIssueRecord, MoveEpicIssue, OneEpicIssue } from './schema.ts';

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
