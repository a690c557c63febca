/** Creating, changing and deleting issues. */
import { onProject } from '../../../../kernel/access/access.ts';
import { type AuthorizedProject, authorizeGroup } from '../../../../kernel/access/find.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, noContent } from '../../../../kernel/api/endpoint.ts';
import { continueThreads, findOpenThreads } from '../../../conversation/index.ts';
import { type IssueChanges, severities } from '../../changes/issue-changes.ts';
import { systemNote } from '../../changes/system-notes.ts';
import { findEpic } from '../../epics/records/find-queries.ts';
import { findIssue } from '../records/find-queries.ts';
import { IssueRecord } from '../records/issue-records.ts';
import { deleteIssue, updateIssue } from '../writing/actions.ts';
import { createIssue } from '../writing/issue-creation.ts';
import { requireDeletion, requireUpdate } from '../writing/issue-rights.ts';
import { describeThreads } from './continued-threads.ts';
import { presentCreated, presentOne } from './one-issue.ts';
import { BODY_LIMIT, CreateIssue, OneIssue, UpdateIssue } from './schema.ts';

const path = '/projects/:id/issues';
const pathOfOne = `${path}/:issue_iid`;

type Sent = Omit<
  CreateIssue,
  'title' | 'iid' | 'merge_request_to_resolve_discussions_of' | 'discussion_to_resolve'
> &
  Pick<UpdateIssue, 'title' | 'state_event' | 'updated_at'>;
type IssueContext = Pick<Context<unknown, AuthorizedProject, Actor>, 'db' | 'services' | 'actor' | 'subject'>;

/** An epic by its number in the project's group; the id wins where both are sent. */
async function epicIdOf({ db, services, actor, subject }: IssueContext, input: Sent) {
  const { epic_id, epic_iid } = input;
  if (epic_id !== undefined || epic_iid === undefined) return epic_id;
  if (!epic_iid) return null;
  if (services.config.tier === 'free' || subject.row.namespace_kind === 'user') return undefined;
  const group = await authorizeGroup(services.database.points, actor, 'read_epics', subject.row.namespace_id);
  return (await findEpic(db, group, actor, epic_iid)).id;
}

/** The request's changes, under the names that the rest of the program has for them. */
async function changesOf(request: IssueContext, input: Sent): Promise<IssueChanges> {
  const { assignee_id, epic_id: _, epic_iid: __, created_at, updated_at, severity, ...rest } = input;
  const single = assignee_id === undefined ? undefined : assignee_id === null ? [] : [assignee_id];
  const epic_id = await epicIdOf(request, input);
  return {
    ...rest,
    assignee_ids: input.assignee_ids ?? single,
    epic_id,
    severity: severities.find((name) => name === severity?.toUpperCase()),
    created_at: created_at === undefined ? undefined : new Date(created_at),
    updated_at: updated_at === undefined ? undefined : new Date(updated_at),
  };
}

export const issueWriteEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes an issue. What the caller may not set is passed over.',
    access: onProject('create_issues'),
    also: [409],
    bodyLimit: BODY_LIMIT,
    input: CreateIssue,
    reply: IssueRecord,
    handle: async (context) => {
      const { subject, input } = context;
      const { title, iid, merge_request_to_resolve_discussions_of: from, ...others } = input;
      const { discussion_to_resolve: discussionId, ...sent } = others;
      const open =
        from === undefined ? undefined : await findOpenThreads(context, subject, { iid: from, discussionId });
      const changes = await changesOf(context, sent);
      if (open && !changes.description) changes.description = describeThreads(from ?? 0, open);
      const made = await createIssue(context, subject, { ...changes, title, iid });
      if (open) {
        const note = systemNote({ what: 'continued_in', reference: `#${made.issue.iid}` });
        await continueThreads(context, open, note);
      }
      return presentCreated(context, made);
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes, closes or reopens an issue. What the caller may not set is passed over.',
    access: onProject('create_issues'),
    also: [409],
    bodyLimit: BODY_LIMIT,
    input: UpdateIssue,
    reply: IssueRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { issue_iid, ...sent } = input;
      const issue = await findIssue(db, subject, actor, issue_iid);
      await requireUpdate(db, subject, actor, issue);
      return presentOne(context, await updateIssue(context, subject, issue, await changesOf(context, sent)));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Removes an issue: owners, planners and its author may.',
    access: onProject('create_issues'),
    input: OneIssue,
    reply: noContent,
    handle: async (context) => {
      const { db, actor, subject, input, unmodified } = context;
      const issue = await findIssue(db, subject, actor, input.issue_iid);
      requireDeletion(subject, actor, issue);
      await deleteIssue(context, subject, issue, ({ updated_at }) => unmodified(updated_at));
      return null;
    },
  }),
];
