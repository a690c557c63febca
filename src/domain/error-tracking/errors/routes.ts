/** Endpoints of errors: those stored here, or those of an external tracker where one is set. */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { badRequest, forbidden } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { IssueRecord, presentCreated } from '../../work-items/index.ts';
import { readEvent } from '../events/shape.ts';
import { changeStatus, makeIssue } from './actions.ts';
import { findTracker, listExternal, showExternal } from './external-tracker.ts';
import { errorAddress, presentCount, presentError, presentEvent, presentWholeEvent } from './present.ts';
import {
  type ErrorQuery,
  type ErrorRow,
  errorPages,
  eventPages,
  selectDetails,
  selectError,
  selectErrors,
  selectEvent,
  selectEvents,
} from './queries.ts';
import {
  ErrorDetailRecord,
  ErrorRecord,
  EventRecord,
  IssueOfError,
  ListErrors,
  OneError,
  OneEvent,
  UpdateError,
  WholeEventRecord,
} from './schema.ts';

const path = '/projects/:id/error_tracking/errors';
const pathOfOne = `${path}/:error_id` as const;

type Situation<Input = unknown> = Context<Input, AuthorizedProject, Actor>;

const queryOf = (input: ListErrors): ErrorQuery => ({
  status: input.status ?? 'unresolved',
  search: input.search,
  by: input.order_by ?? 'last_seen',
  sort: input.sort ?? 'desc',
});

/** An error that is stored here; 404 without it, 400 while the project uses an external tracker. */
async function ownError(context: Situation<{ error_id: number }>): Promise<ErrorRow> {
  const { db, subject, input } = context;
  const error = await selectError(db, subject, input.error_id);
  if (error && !error.is_elsewhere) return error;
  if (await findTracker(context, subject))
    throw badRequest('the errors of an external tracker are worked on there');
  return found(error, 'Error');
}

/** The error with counts, tags and latest event. */
async function detailed({ db, services, subject }: Situation, row: ErrorRow): Promise<ErrorDetailRecord> {
  const { counts, tags, latest } = await selectDetails(db, row);
  return {
    ...presentError(services.baseUrl(), subject, row),
    counts: counts.map(presentCount),
    tags,
    latest_event: latest ? presentWholeEvent(latest, await readEvent(latest)) : null,
  };
}

export const errorsEndpoint = listing({
  method: 'GET',
  path,
  summary: 'Errors of a project; those that are unresolved unless another status is named.',
  access: onProject('read_errors'),
  page: errorPages,
  input: ListErrors,
  item: ErrorRecord,
  handle: async (context) => {
    const { db, services, subject, input, page } = context;
    const tracker = await findTracker(context, subject);
    if (tracker) return listExternal(tracker, queryOf(input), page);
    const errors = await selectErrors(db, subject, queryOf(input), page);
    return mapPage(errors, (row) => presentError(services.baseUrl(), subject, row));
  },
});

export const errorEndpoint = endpoint({
  method: 'GET',
  path: pathOfOne,
  summary: 'One error of a project with its latest event.',
  access: onProject('read_errors'),
  input: OneError,
  reply: ErrorDetailRecord,
  handle: async (context) => {
    const { db, subject, input } = context;
    const error = await selectError(db, subject, input.error_id);
    if (error && !error.is_elsewhere) return detailed(context, error);
    const tracker = await findTracker(context, subject);
    if (tracker) return showExternal(tracker, input.error_id);
    return detailed(context, found(error, 'Error'));
  },
});

export const errorEndpoints: Endpoint[] = [
  errorsEndpoint,
  errorEndpoint,
  listing({
    method: 'GET',
    path: `${pathOfOne}/events`,
    summary: 'Events of an error that are kept, newest first.',
    access: onProject('read_errors'),
    page: eventPages,
    input: Type.Object({ ...OneError.properties }),
    item: EventRecord,
    handle: async (context) =>
      mapPage(await selectEvents(context.db, await ownError(context), context.page), presentEvent),
  }),
  endpoint({
    method: 'GET',
    path: `${pathOfOne}/events/:event_id`,
    summary: 'One event of an error, as far as it is kept.',
    access: onProject('read_errors'),
    input: OneEvent,
    reply: WholeEventRecord,
    handle: async (context) => {
      const { db, input } = context;
      const row = found(await selectEvent(db, await ownError(context), input.event_id), 'Event');
      return presentWholeEvent(row, await readEvent(row));
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Resolves, ignores or reopens an error.',
    access: onProject('change_errors'),
    input: UpdateError,
    reply: ErrorRecord,
    handle: async (context) => {
      const { db, services, actor, subject, input } = context;
      const { id } = await ownError(context);
      const row = await changeStatus(db, actor, subject, id, input.status);
      return presentError(services.baseUrl(), subject, row);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/issue`,
    summary: 'Makes an issue of an error, once.',
    access: onProject('read_errors'),
    also: [409],
    input: IssueOfError,
    reply: IssueRecord,
    handle: async (context) => {
      const { services, subject, input } = context;
      const error = await ownError(context);
      if (!subject.may('create_issues')) throw forbidden();
      const address = errorAddress(services.baseUrl(), subject, error.id);
      return presentCreated(context, await makeIssue(context, subject, error, address, input.confidential));
    },
  }),
];
