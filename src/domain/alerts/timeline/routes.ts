/** Endpoints of incident timelines: read by readers of the incident, written by developers. */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { notFound } from '../../../platform/failure.ts';
import {
  addTimelineEvent,
  changeTimelineEvent,
  findIncident,
  findTimelineEvent,
  presentTimeline,
  removeTimelineEvent,
  selectTimeline,
  type TimelineEventRow,
  type TimelineReading,
} from './actions.ts';
import {
  AddTimelineEvent,
  ChangeTimelineEvent,
  ListTimeline,
  OneTimelineEvent,
  TimelineEventRecord,
} from './schema.ts';

const path = '/projects/:id/issues/:issue_iid/timeline_events';
const pathOfOne = `${path}/:timeline_event_id` as const;

async function presentOne(reading: TimelineReading, row: TimelineEventRow): Promise<TimelineEventRecord> {
  const [record] = await presentTimeline(reading, [row]);
  if (!record) throw notFound();
  return record;
}

export const timelineEndpoint = listing({
  method: 'GET',
  path,
  summary: 'What happened in an incident, in that order.',
  access: onProject('read_issues'),
  page: 'offset',
  input: ListTimeline,
  item: TimelineEventRecord,
  handle: async (context) => {
    const { db, actor, subject, input, page } = context;
    const incident = await findIncident(db, subject, actor, input.issue_iid);
    const events = await selectTimeline(db, incident, input.sort ?? 'asc', page);
    return { ...events, items: await presentTimeline(context, events.items) };
  },
});

export const timelineEndpoints: Endpoint[] = [
  timelineEndpoint,
  endpoint({
    method: 'POST',
    path,
    summary: 'Tells what happened in an incident.',
    access: onProject('manage_incident_timeline'),
    input: AddTimelineEvent,
    reply: TimelineEventRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const incident = await findIncident(db, subject, actor, input.issue_iid);
      return presentOne(context, await addTimelineEvent(db, actor, incident, input));
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes what somebody told of an incident; what the program saw stays.',
    access: onProject('manage_incident_timeline'),
    input: ChangeTimelineEvent,
    reply: TimelineEventRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const incident = await findIncident(db, subject, actor, input.issue_iid);
      const { timeline_event_id, ...changes } = input;
      return presentOne(context, await changeTimelineEvent(db, incident, timeline_event_id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Takes away what somebody told of an incident; what the program saw stays.',
    access: onProject('manage_incident_timeline'),
    input: OneTimelineEvent,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      const incident = await findIncident(db, subject, actor, input.issue_iid);
      const row = await findTimelineEvent(db, incident, input.timeline_event_id);
      await removeTimelineEvent(db, row, unmodified);
      return null;
    },
  }),
];
