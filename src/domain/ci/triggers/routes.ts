/** Trigger tokens of projects. */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createTrigger, deleteTrigger, updateTrigger } from './actions.ts';
import { presentTrigger } from './present.ts';
import { selectTrigger, selectTriggers } from './queries.ts';
import { CreateInput, OneInput, Trigger, UpdateInput } from './schema.ts';

const path = '/projects/:id/triggers';
const pathOfOne = `${path}/:trigger_id`;
const access = onProject('manage_triggers');

export const triggerEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Trigger tokens of a project, the oldest first.',
    access,
    page: 'offset',
    item: Trigger,
    handle: async (context) =>
      mapPage(await selectTriggers(context.db, context.subject, context.page), (row) =>
        presentTrigger(context, row),
      ),
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a trigger token of a project, for the caller.',
    access,
    input: CreateInput,
    reply: Trigger,
    handle: async (context) => presentTrigger(context, await createTrigger(context, context.input)),
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'A trigger token of a project.',
    access,
    input: OneInput,
    reply: Trigger,
    handle: async (context) => {
      const { db, subject, input } = context;
      return presentTrigger(context, found(await selectTrigger(db, subject, input.trigger_id), 'Trigger'));
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes the description of the caller’s own trigger token.',
    access,
    input: UpdateInput,
    reply: Trigger,
    handle: async (context) => {
      const { trigger_id, ...changes } = context.input;
      return presentTrigger(context, await updateTrigger(context, trigger_id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a trigger token of a project.',
    access,
    input: OneInput,
    reply: noContent,
    handle: async (context) => {
      await deleteTrigger(context, context.input.trigger_id, context.unmodified);
      return null;
    },
  }),
];
