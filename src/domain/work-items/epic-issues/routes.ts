/**
 * Endpoints of issues in epics: an issue has one epic at most (facts: Epics). Issues that the reader may not
 * read are neither shown nor counted.
 */
import Type from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import { endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { conflict, forbidden } from '../../../platform/failure.ts';
import { atBothPaths, type EpicsPath } from '../epics/paths.ts';
import { type Presenting, wholePage } from '../epics/present.ts';
import { presentEpics } from '../epics/records/epic-records.ts';
import type { EpicRow } from '../epics/records/epic-rows.ts';
import { findEpic } from '../epics/records/find-queries.ts';
import { OneEpic } from '../epics/schema.ts';
import { type IssueReading, presentIssues } from '../issues/records/issue-records.ts';
import type { IssueRow } from '../issues/records/issue-rows.ts';
import { addIssue, moveIssue, removeIssue } from './actions.ts';
import { type EpicIssueRow, findIssue, findIssueOf, type Link, selectIssues } from './queries.ts';
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
        const { epic, ...one } = await findIssue(context, context.input);
        if (!one.project.may('update_issues')) throw forbidden();
        if (one.link?.epic_id === epic.id) throw conflict('Issue(s) already assigned');
        const { issue, link } = await addIssue(context, { epic, group: context.subject }, one);
        return presentLink(context, epic, issue, link);
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
        const { db, actor, input } = context;
        const { epic, link } = await findIssueOf(context, input);
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
        const { subject, input, unmodified } = context;
        const { epic, ...one } = await findIssueOf(context, input);
        if (!one.project.may('update_issues')) throw forbidden();
        unmodified(one.issue.updated_at);
        const issue = await removeIssue(context, { epic, group: subject }, one);
        return presentLink(context, epic, issue, one.link);
      },
    }),
  };
};

export const epicIssueEndpoints = atBothPaths(endpointsAt);
