/** Pipeline schedules of projects (facts: Pipelines, schedules). */
import { onProject } from '../../../kernel/access/access.ts';
import {
  Accepted,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
  Reply,
} from '../../../kernel/api/endpoint.ts';
import { forbidden } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { PipelineBasic } from '../../repositories/index.ts';
import { GivenVariable } from '../creation/schema.ts';
import { listPipelines } from '../pipelines/routes.ts';
import {
  createSchedule,
  createScheduleVariable,
  deleteSchedule,
  deleteScheduleVariable,
  takeOwnership,
  updateSchedule,
  updateScheduleVariable,
} from './actions.ts';
import { presentSchedule, presentScheduleVariable, showSchedule } from './present.ts';
import { selectSchedule, selectSchedules, selectScheduleVariable } from './queries.ts';
import { administers } from './rules.ts';
import { playSchedule } from './run-actions.ts';
import {
  CreateInput,
  ListInput,
  NewVariable,
  OneInput,
  OneVariable,
  PipelinesInput,
  Schedule,
  ScheduleDetails,
  UpdateInput,
  VariableChange,
} from './schema.ts';

const path = '/projects/:id/pipeline_schedules';
const pathOfOne = `${path}/:pipeline_schedule_id` as const;
const pathOfVariable = `${pathOfOne}/variables/:key` as const;
const reading = onProject('read_pipelines');
const running = onProject('run_pipelines');

export const scheduleEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Pipeline schedules of a project, the oldest first.',
    access: reading,
    page: 'offset',
    input: ListInput,
    item: Schedule,
    handle: async (context) =>
      mapPage(await selectSchedules(context.db, context.subject, context.input.scope, context.page), (row) =>
        presentSchedule(context, row),
      ),
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a pipeline schedule, whose pipelines run as the caller.',
    access: running,
    input: CreateInput,
    reply: ScheduleDetails,
    handle: async (context) => showSchedule(context, await createSchedule(context, context.input)),
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'A pipeline schedule; with its inputs and variables for its owner and for maintainers.',
    access: reading,
    input: OneInput,
    reply: ScheduleDetails,
    handle: async (context) => {
      const { db, subject, input } = context;
      const row = found(await selectSchedule(db, subject, input.pipeline_schedule_id), 'PipelineSchedule');
      return showSchedule(context, row);
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes the caller’s own pipeline schedule; what is not sent stays as it is.',
    access: running,
    input: UpdateInput,
    reply: ScheduleDetails,
    handle: async (context) => {
      const { pipeline_schedule_id, ...changes } = context.input;
      return showSchedule(context, await updateSchedule(context, pipeline_schedule_id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a pipeline schedule; its pipelines stay.',
    access: running,
    input: OneInput,
    reply: noContent,
    handle: async (context) => {
      await deleteSchedule(context, context.input.pipeline_schedule_id, context.unmodified);
      return null;
    },
  }),
  listing({
    method: 'GET',
    path: `${pathOfOne}/pipelines`,
    summary: 'The pipelines that a schedule made, the newest first.',
    access: reading,
    page: 'offset',
    input: PipelinesInput,
    item: PipelineBasic,
    handle: async (context) => {
      const { pipeline_schedule_id: id, ...filter } = context.input;
      found(await selectSchedule(context.db, context.subject, id), 'PipelineSchedule');
      return listPipelines(context, { ...filter, schedule_id: id });
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/play`,
    summary: 'Makes a pipeline of a schedule now, as the caller.',
    access: running,
    input: OneInput,
    reply: Accepted,
    handle: async (context) => {
      const { db, services, subject, input } = context;
      const row = found(await selectSchedule(db, subject, input.pipeline_schedule_id), 'PipelineSchedule');
      await playSchedule(context, row);
      services.wake();
      return { message: '201 Created' };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/take_ownership`,
    summary: 'Makes a pipeline schedule the caller’s, who is a maintainer.',
    access: running,
    also: [200],
    input: OneInput,
    reply: ScheduleDetails,
    handle: async (context) => {
      const { row, wasOwn } = await takeOwnership(context, context.input.pipeline_schedule_id);
      return new Reply(wasOwn ? 200 : 201, await showSchedule(context, row));
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/variables`,
    summary: 'Makes a variable of the caller’s own pipeline schedule.',
    access: running,
    input: NewVariable,
    reply: GivenVariable,
    handle: async (context) => {
      const { pipeline_schedule_id, ...given } = context.input;
      const row = await createScheduleVariable(context, pipeline_schedule_id, given);
      return presentScheduleVariable(context.services.secretKey, row);
    },
  }),
  endpoint({
    method: 'GET',
    path: pathOfVariable,
    summary: 'A variable of a pipeline schedule, for its owner and for maintainers.',
    access: running,
    input: OneVariable,
    reply: GivenVariable,
    handle: async ({ db, services, subject, actor, input }) => {
      const schedule = found(
        await selectSchedule(db, subject, input.pipeline_schedule_id),
        'PipelineSchedule',
      );
      if (!administers({ isOwner: schedule.owner_id === actor.id, role: subject.role })) throw forbidden();
      const row = found(await selectScheduleVariable(db, schedule.id, input.key), 'Variable');
      return presentScheduleVariable(services.secretKey, row);
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfVariable,
    summary: 'Changes a variable of the caller’s own pipeline schedule.',
    access: running,
    input: VariableChange,
    reply: GivenVariable,
    handle: async (context) => {
      const { pipeline_schedule_id, ...changes } = context.input;
      const row = await updateScheduleVariable(context, pipeline_schedule_id, changes);
      return presentScheduleVariable(context.services.secretKey, row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfVariable,
    status: 202,
    summary: 'Deletes a variable of a pipeline schedule, and shows what it was.',
    access: running,
    input: OneVariable,
    reply: GivenVariable,
    handle: async (context) => {
      const { pipeline_schedule_id, key } = context.input;
      const row = await deleteScheduleVariable(context, pipeline_schedule_id, key, context.unmodified);
      return presentScheduleVariable(context.services.secretKey, row);
    },
  }),
];
