/** Links between issues: two relate, or one blocks the other, which needs premium. */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../../kernel/access/access.ts';
import { type AuthorizedProject, authorizeProject } from '../../../../kernel/access/find.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import {
  type Context,
  type Endpoint,
  endpoint,
  listing,
  noContent,
} from '../../../../kernel/api/endpoint.ts';
import { Failure, forbidden, notFound } from '../../../../platform/failure.ts';
import { dateTime, integerId, nullable, stringEnum } from '../../../../platform/http/parameters/schema.ts';
import { findIssue } from '../records/find-queries.ts';
import { IssueBasicRecord, type IssueReading, IssueRecord, presentIssues } from '../records/issue-records.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import {
  type IssueInProject,
  type IssueLinkRow,
  linkIssues,
  linkTypes,
  typeSeenFrom,
  unlinkIssues,
} from '../relations/link-actions.ts';
import { findIssues, findLink, selectRelated } from './queries.ts';
import { OneIssue } from './schema.ts';

const path = '/projects/:id/issues/:issue_iid/links';

const OneLink = Type.Object({ ...OneIssue.properties, issue_link_id: integerId() });
const CreateLink = Type.Object({
  ...OneIssue.properties,
  target_project_id: nullable(Type.String({ description: 'null is the project of the issue itself.' })),
  target_issue_iid: integerId(),
  link_type: Type.Optional(stringEnum(linkTypes, { description: '`blocks` and `is_blocked_by`: premium.' })),
});

const LinkRecord = Type.Object({
  id: Type.Integer(),
  source_issue: IssueBasicRecord,
  target_issue: IssueBasicRecord,
  link_type: Type.String(),
});

const RelatedIssueRecord = Type.Object({
  ...IssueRecord.properties,
  issue_link_id: Type.Integer(),
  link_type: Type.String(),
  link_created_at: dateTime(),
  link_updated_at: dateTime(),
});

async function presentLink(reading: IssueReading, link: IssueLinkRow, issues: readonly [IssueRow, IssueRow]) {
  const records = await presentIssues(reading, issues);
  const source = records.find(({ id }) => id === link.source_id);
  const target = records.find(({ id }) => id === link.target_id);
  if (!source || !target) throw notFound();
  return { id: link.id, source_issue: source, target_issue: target, link_type: link.link_type };
}

type LinkContext = Pick<Context<unknown, AuthorizedProject, Caller>, 'db' | 'services' | 'actor' | 'subject'>;

/** The issue and the other one of a new link; 404 unless the caller sees both. */
async function findBoth(
  context: LinkContext,
  { issue_iid, target_project_id: reference, target_issue_iid }: Static<typeof CreateLink>,
): Promise<IssueInProject[]> {
  const { db, services, actor, subject } = context;
  if (reference === null || reference === String(subject.id))
    return findIssues(context, subject, [issue_iid, target_issue_iid]);
  const issue = await findIssue(db, subject, actor, issue_iid);
  const project = await authorizeProject(services.database.points, actor, 'read_issues', reference);
  return [
    { issue, project: subject },
    { issue: await findIssue(db, project, actor, target_issue_iid), project },
  ];
}

export const issueLinkEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Issues linked with an issue.',
    access: onProject('read_issues'),
    page: 'offset',
    input: OneIssue,
    item: RelatedIssueRecord,
    handle: async (context) => {
      const { db, actor, subject, input, page } = context;
      const issue = await findIssue(db, subject, actor, input.issue_iid);
      if (page.kind !== 'offset') throw new Failure('method_not_allowed', '405 Method Not Allowed');
      const rows = await selectRelated(db, actor, issue.id, page);
      const records = new Map((await presentIssues(context, rows.items)).map((each) => [each.id, each]));
      const items = rows.items.flatMap((row) => {
        const record = records.get(row.id);
        if (!record) return [];
        return {
          ...record,
          issue_link_id: row.link_id,
          link_type: typeSeenFrom(row, issue.id),
          link_created_at: row.link_created_at.toISOString(),
          link_updated_at: row.link_updated_at.toISOString(),
        };
      });
      return { ...rows, items };
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Links an issue with another.',
    access: onProject('create_issues'),
    also: [409],
    input: CreateLink,
    reply: LinkRecord,
    handle: async (context) => {
      const { link_type = 'relates_to' } = context.input;
      const [issue, target] = await findBoth(context, context.input);
      if (!issue || !target) throw notFound();
      const link = await linkIssues(context, issue, target, link_type);
      return presentLink(context, link, [issue.issue, target.issue]);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:issue_link_id`,
    summary: 'One link of an issue.',
    access: onProject('read_issues'),
    input: OneLink,
    reply: LinkRecord,
    handle: async (context) => {
      const { link, issue, other } = await findLink(context, context.subject, context.input);
      return presentLink(context, link, [issue, other.issue]);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:issue_link_id`,
    summary: 'Takes a link of an issue away.',
    access: onProject('create_issues'),
    input: OneLink,
    reply: noContent,
    handle: async (context) => {
      const { db, actor, subject, input, unmodified } = context;
      if (!subject.may('update_issues')) {
        await findIssue(db, subject, actor, input.issue_iid);
        throw forbidden();
      }
      const { link, issue, other } = await findLink(context, subject, input);
      unmodified(link.updated_at);
      await unlinkIssues(db, actor, link, { issue, project: subject }, other);
      return null;
    },
  }),
];
