/** Endpoints of activity events: the caller's, a user's and a project's (spec: Activity events). */
import Type from 'typebox';
import { onProject, onUser, signedIn } from '../../kernel/access/access.ts';
import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Caller } from '../../kernel/actor.ts';
import { type Context, type Endpoint, listing } from '../../kernel/api/endpoint.ts';
import { notFound } from '../../platform/failure.ts';
import type { Page } from '../../platform/pagination/page.ts';
import { type NoteRecord, noteableKinds, presentNotes } from '../conversation/index.ts';
import { EventRecord, presentEvent } from './event-records.ts';
import { isOnNote } from './event-rows.ts';
import {
  type Feed,
  feedOfAuthor,
  feedOfMember,
  feedOfProject,
  selectEvents,
  selectNoteRows,
} from './queries.ts';
import { type EventFilters, filterFields } from './schema.ts';

const scopes = ['api', 'read_api', 'read_user'];

const none: Page<EventRecord> = { items: [], total: 0, more: false };

/** The notes of these ids as records. */
async function selectNotes(
  context: Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'settings'>,
  ids: readonly number[],
): Promise<Map<number, NoteRecord>> {
  if (ids.length === 0) return new Map();
  const rows = await selectNoteRows(context.db, noteableKinds(context.services), ids);
  return new Map((await presentNotes(context, rows)).map((record) => [record.id, record]));
}

/** The page of the feed, which may be of one project. */
async function readFeed(
  { db, services, settings, input, page }: Context<EventFilters, unknown, Caller>,
  feed: Feed,
): Promise<Page<EventRecord>> {
  if (page.kind !== 'offset') return none;
  const around = { baseUrl: services.baseUrl(), settings };
  const { items, page: counted } = await selectEvents(db, services, feed, input, page);
  const [rest, notes] = await Promise.all([
    counted,
    selectNotes(
      { db, services, settings },
      items.filter(isOnNote).flatMap(({ target_id }) => target_id ?? []),
    ),
  ]);
  const targets = activityTargets.all(services);
  const records = items.flatMap((row) => {
    const note = isOnNote(row) ? notes.get(row.target_id ?? 0) : undefined;
    // The note was deleted meanwhile.
    if (isOnNote(row) && !note) return [];
    return presentEvent(around, targets, row, note, feed.projectId !== undefined);
  });
  return { ...rest, items: records };
}

export const activityEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/events',
    summary: 'What the caller did, or what happens in all projects of theirs; newest first.',
    access: signedIn,
    scopes,
    page: 'offset',
    input: Type.Object({
      ...filterFields,
      scope: Type.Optional(
        Type.String({ description: '`all`: of everybody, in the projects that the caller is a member of.' }),
      ),
    }),
    item: EventRecord,
    handle: (context) => {
      const { services, actor, input } = context;
      const isOfAll = input.scope === 'all';
      return readFeed(
        context,
        isOfAll ? feedOfMember(services, actor) : feedOfAuthor(services, actor, actor),
      );
    },
  }),
  listing({
    method: 'GET',
    path: '/users/:id/events',
    summary: 'What a person did, where the caller sees it; nothing of somebody whose profile is private.',
    access: onUser(),
    scopes,
    page: 'offset',
    input: Type.Object(filterFields),
    item: EventRecord,
    handle: async (context) => {
      const { services, actor, subject, settings } = context;
      // Anonymous callers do not learn which users exist (GET /users/:id).
      if (!actor && settings.restricted_visibility_levels.includes('public')) throw notFound('User');
      const isHidden = subject.row.private_profile && !actor?.admin && actor?.id !== subject.id;
      return isHidden ? none : readFeed(context, feedOfAuthor(services, actor, subject));
    },
  }),
  listing({
    method: 'GET',
    path: '/projects/:project_id/events',
    summary: 'What happens in a project, as far as the caller sees it.',
    access: onProject('read_project', 'project_id'),
    page: 'offset',
    input: Type.Object(filterFields),
    item: EventRecord,
    handle: (context) => {
      const { services, actor, subject } = context;
      return readFeed(context, feedOfProject(services, actor, subject));
    },
  }),
];
