/** Merge requests as subjects of notification events. */
import { sql } from 'kysely';
import { setSubscription } from '../../conversation/index.ts';
import {
  type LoadedSubject,
  type Loading,
  type MailContents,
  type NotificationSubject,
  projectOf,
  selectPeopleChange,
} from '../../notifications/index.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { mergeRequestWebUrl } from '../records/merge-request-rows.ts';
import { mergeRequestParticipants } from '../records/noteable-queries.ts';
import type { PushDetails } from '../writing/announcements.ts';
import { MERGE_REQUEST } from './notification-facts.ts';
import { type MailedMergeRequest, type MergeRequestNews, mergeRequestMail } from './notification-mails.ts';
import {
  type InvolvedMergeRequest,
  keepMergeRequest,
  noProperties,
  selectInProject,
  selectPeopleOf,
  selectProperties,
} from './notification-queries.ts';

const isNew = ({ job }: Loading): boolean =>
  job.event.name === 'new_merge_request' || job.event.name === 'approver';

/** What mails say of the merge request. Only those of a new one show its properties. */
async function describe(loading: Loading, row: InvolvedMergeRequest): Promise<MailedMergeRequest> {
  const { services, context } = loading;
  const properties = isNew(loading)
    ? await selectProperties(services.database.background, row.id)
    : noProperties;
  return {
    id: row.id,
    iid: row.iid,
    title: row.title,
    url: mergeRequestWebUrl(services.baseUrl(), context.fullPath, row.iid),
    // The table's check constraint admits these only.
    state: row.state as MailedMergeRequest['state'],
    sourceBranch: row.source_branch,
    targetBranch: row.target_branch,
    ...properties,
  };
}

/** What the event changed. */
async function newsOf({ services, context, job }: Loading, id: number): Promise<MergeRequestNews> {
  const { name, involved } = job.event;
  const db = services.database.background;
  switch (name) {
    case 'reassign_merge_request': {
      const ids = { added: involved.assigned, removed: involved.unassigned };
      return { people: await selectPeopleChange(db, selectPeopleOf('merge_request_assignees', id), ids) };
    }
    case 'change_reviewer_merge_request': {
      const ids = { added: involved.reviewing, removed: involved.noLongerReviewing };
      return { people: await selectPeopleChange(db, selectPeopleOf('merge_request_reviewers', id), ids) };
    }
    case 'push_to_merge_request': {
      // Announced with this event alone.
      const { commits, count } = job.payload as PushDetails;
      const url = `${services.baseUrl()}/${context.fullPath}/-/commit/`;
      return { commits: commits.map((commit) => ({ ...commit, url: url + commit.sha })), count };
    }
    default:
      return {};
  }
}

async function load(loading: Loading): Promise<LoadedSubject | undefined> {
  // That of selectInProject(), whose other times are not read.
  const row = loading.row as InvolvedMergeRequest | null;
  if (!row) return undefined;
  const description = isNew(loading) ? row.description : null;
  return {
    authorId: row.author_id,
    assigneeIds: row.assignee_ids,
    reviewerIds: row.reviewer_ids,
    said: description,
    targetFor: (visitor) => mergeRequestNoteable(projectOf(visitor), row),
    ...(isNew(loading) && { at: new Date(row.created_at) }),
    async contents(): Promise<MailContents & { description: string | null }> {
      const described = await describe(loading, row);
      const news = await newsOf(loading, row.id);
      return { ...mergeRequestMail(loading.job.event.name, described, news), description };
    },
  };
}

export const mergeRequestSubject: NotificationSubject = {
  kind: MERGE_REQUEST,
  select: ({ projectId = 0, subject }) => selectInProject(projectId, subject.id ?? 0),
  load,
  participants: ({ subject }) => mergeRequestParticipants(sql`${[subject.id ?? 0]}::bigint[]`),
  subscription: {
    column: 'merge_request_id',
    async end(tx, userId, id) {
      const row = await keepMergeRequest(tx, id);
      if (row) await setSubscription(tx, userId, { column: 'merge_request_id', id }, false);
    },
    name: 'this merge request',
    still: 'You still get one when somebody mentions you there, assigns it to you or asks you to review it.',
  },
};
