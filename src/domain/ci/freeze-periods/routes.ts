/** Freeze periods of projects (facts: Freeze periods). */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { dateTime, integerId } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createPeriod, deletePeriod, updatePeriod } from './actions.ts';
import { type FreezeRow, selectPeriod, selectPeriods } from './queries.ts';

const path = '/projects/:id/freeze_periods';
const pathOfOne = `${path}/:freeze_period_id` as const;
const read = onProject('read_freeze_periods');
const manage = onProject('manage_freeze_periods');

const cron = (what: string) => Type.String({ maxLength: 255, description: `${what}, as cron has it.` });
const start = cron('When nothing should be deployed any more');
const end = cron('When it should be again');
const zone = Type.String({ maxLength: 255, description: 'A time zone; UTC unless given.' });
const one = { freeze_period_id: integerId() };
const OnePeriod = Type.Object(one);

const FreezePeriod = Type.Object({
  id: Type.Integer(),
  freeze_start: Type.String(),
  freeze_end: Type.String(),
  cron_timezone: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
});

const present = (row: FreezeRow): Static<typeof FreezePeriod> => ({
  id: row.id,
  freeze_start: row.freeze_start,
  freeze_end: row.freeze_end,
  cron_timezone: row.cron_timezone,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const freezePeriodEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Freeze periods of a project, the oldest first.',
    access: read,
    page: 'offset',
    item: FreezePeriod,
    handle: async ({ db, subject, page }) => mapPage(await selectPeriods(db, subject, page), present),
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a freeze period of a project.',
    access: manage,
    input: Type.Object({ freeze_start: start, freeze_end: end, cron_timezone: Type.Optional(zone) }),
    reply: FreezePeriod,
    handle: async (context) =>
      present(await createPeriod(context, { cron_timezone: 'UTC', ...context.input })),
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'A freeze period of a project.',
    access: read,
    input: OnePeriod,
    reply: FreezePeriod,
    handle: async ({ db, subject, input }) =>
      present(found(await selectPeriod(db, subject, input.freeze_period_id), 'Freeze Period')),
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes a freeze period of a project.',
    access: manage,
    input: Type.Object({
      ...one,
      freeze_start: Type.Optional(start),
      freeze_end: Type.Optional(end),
      cron_timezone: Type.Optional(zone),
    }),
    reply: FreezePeriod,
    handle: async (context) => {
      const { freeze_period_id, ...changes } = context.input;
      return present(await updatePeriod(context, freeze_period_id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a freeze period of a project.',
    access: manage,
    input: OnePeriod,
    reply: noContent,
    handle: async (context) => {
      await deletePeriod(context, context.input.freeze_period_id, context.unmodified);
      return null;
    },
  }),
];
