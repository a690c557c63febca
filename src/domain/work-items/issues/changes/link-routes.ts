/** Links between issues: two relate, or one blocks the other, which needs premium. */
import { sql } from 'kysely';
import Type from 'typebox';
import { onProject } from '../../../../kernel/access/access.ts';
import { type AuthorizedProject, authorizeProject } from '../../../../kernel/access/find.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import {
  type Context,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
} from '../../../../kernel/api/endpoint.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { Failure, notFound } from '../../../../platform/failure.ts';
import { dateTime, integerId, nullable, stringEnum } from '../../../../platform/http/parameters/schema.ts';
import { offsetPage, type Page, type PageRequest } from '../../../../platform/pagination/page.ts';
import { findIssue, findIssueById } from '../records/issue-find.ts';
import { IssueBasicRecord, type IssueReading, IssueRecord, presentIssues } from '../records/issue-records.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { visibleIssues } from '../records/issue-visibility.ts';
import {
  type IssueLinkRow,
  linkIssues,
  linkTypes,
  typeSeenFrom,
  unlinkIssues,
} from '../relations/issue-links.ts';
import { requireManagement } from '../writing/issue-rights.ts';
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

type RelatedRow = IssueRow &
  Pick<IssueLinkRow, 'source_id' | 'link_type'> & {
    link_id: number;
    link_created_at: Date;
    link_updated_at: Date;
  };

/** The issues linked with one, as far as the caller sees them, in the order of the links. */
async function selectRelated(
  db: Db,
  actor: Caller,
  issueId: number,
  page: PageRequest & { kind: 'offset' },
): Promise<Page<RelatedRow>> {
  const linked = sql`select id, source_id, link_type, created_at, updated_at,
    case source_id when ${issueId} then target_id else source_id end as other_id
    from issue_links where source_id = ${issueId} or target_id = ${issueId}`;
  const inTheirProjects = sql`p.id in (select o.project_id from linked k join issues o on o.id = k.other_id)`;
  const { ctes, condition } = visibleIssues(actor, inTheirProjects);
  const from = sql`linked k join issues i on i.id = k.other_id join issue_projects v on v.id = i.project_id where ${condition}`;
  const { rows } = await sql<RelatedRow>`with linked as (${linked}), ${ctes}
    select i.*, k.id as link_id, k.source_id, k.link_type, k.created_at as link_created_at, k.updated_at as link_updated_at
    from ${from} order by k.id limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return offsetPage(page, rows, async () => {
    const counted = await sql<{ count: number }>`with linked as (${linked}), ${ctes}
      select count(*) as count from (select from ${from} limit ${page.countLimit + 1}) x`.execute(db);
    return counted.rows[0]?.count ?? 0;
  });
}

/** The link of the issue, and the issue at its other end; 404 unless the caller sees both. */
async function findLink(
  { db, services, actor }: Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'actor'>,
  issue: IssueRow,
  id: number,
) {
  const link = found(
    await db
      .selectFrom('issue_links')
      .selectAll()
      .where('id', '=', id)
      .where((or) => or.or([or('source_id', '=', issue.id), or('target_id', '=', issue.id)]))
      .executeTakeFirst(),
  );
  const otherId = link.source_id === issue.id ? link.target_id : link.source_id;
  return { link, other: await findIssueById(db, services.database.points, actor, otherId) };
}

async function presentLink(reading: IssueReading, link: IssueLinkRow, issues: readonly [IssueRow, IssueRow]) {
  const records = await presentIssues(reading, issues);
  const source = records.find(({ id }) => id === link.source_id);
  const target = records.find(({ id }) => id === link.target_id);
  if (!source || !target) throw notFound();
  return { id: link.id, source_issue: source, target_issue: target, link_type: link.link_type };
}

/** The other issue of a new link; 404 unless the caller sees it. */
async function findTarget(
  {
    db,
    services,
    actor,
    subject,
  }: Pick<Context<unknown, AuthorizedProject, Caller>, 'db' | 'services' | 'actor' | 'subject'>,
  input: { target_project_id: string | null; target_issue_iid: number },
) {
  const { target_project_id: reference } = input;
  const project =
    reference === null
      ? subject
      : await authorizeProject(services.database.points, actor, 'read_issues', reference);
  return { issue: await findIssue(db, project, actor, input.target_issue_iid), project };
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
      const { db, actor, subject, input } = context;
      const { link_type = 'relates_to' } = input;
      const issue = await findIssue(db, subject, actor, input.issue_iid);
      const target = await findTarget(context, input);
      const link = await linkIssues(context, { issue, project: subject }, target, link_type);
      return presentLink(context, link, [issue, target.issue]);
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
      const { db, actor, subject, input } = context;
      const issue = await findIssue(db, subject, actor, input.issue_iid);
      const { link, other } = await findLink(context, issue, input.issue_link_id);
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
      const issue = await findIssue(db, subject, actor, input.issue_iid);
      requireManagement(subject);
      const { link, other } = await findLink(context, issue, input.issue_link_id);
      unmodified(link.updated_at);
      await unlinkIssues(db, actor, link, { issue, project: subject }, other);
      return null;
    },
  }),
];
