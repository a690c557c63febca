/** Pipeline schedules as records. */
import type { Static } from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Context } from '../../../kernel/api/endpoint.ts';
import { unseal } from '../../../platform/secret.ts';
import type { GivenVariable } from '../creation/schema.ts';
import { presentPipelineBasic } from '../pipelines/present.ts';
import { presentUser } from '../pipelines/user-columns.ts';
import {
  type ScheduleRow,
  type ScheduleVariableRow,
  selectLastOf,
  selectScheduleVariables,
} from './queries.ts';
import { administers } from './rules.ts';
import type { Schedule, ScheduleDetails } from './schema.ts';

type ScheduleContext = Pick<
  Context<unknown, AuthorizedProject, Caller>,
  'db' | 'services' | 'settings' | 'subject' | 'actor'
>;

export const presentSchedule = (
  { services, settings }: Pick<ScheduleContext, 'services' | 'settings'>,
  row: ScheduleRow,
): Static<typeof Schedule> => ({
  id: row.id,
  description: row.description,
  ref: row.ref,
  cron: row.cron,
  cron_timezone: row.cron_timezone,
  next_run_at: row.next_run_at.toISOString(),
  active: row.active,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  owner: presentUser({ baseUrl: services.baseUrl(), settings }, { ...row, user_id: row.owner_id }),
});

export const presentScheduleVariable = (
  secretKey: string,
  { key, variable_type, value_sealed }: ScheduleVariableRow,
): Static<typeof GivenVariable> => ({ key, variable_type, value: unseal(secretKey, value_sealed) });

/** With its last pipeline, and with what it passes on where the caller may see that. */
export async function showSchedule(
  context: ScheduleContext,
  row: ScheduleRow,
): Promise<Static<typeof ScheduleDetails>> {
  const { db, services, subject, actor } = context;
  const last = await selectLastOf(db, subject, row.id);
  const isOwner = actor !== undefined && row.owner_id === actor.id;
  return {
    ...presentSchedule(context, row),
    last_pipeline: last ? presentPipelineBasic(services.baseUrl(), subject, last) : null,
    ...(administers({ isOwner, role: subject.role }) && {
      inputs: row.inputs as { name: string; value: unknown }[],
      variables: (await selectScheduleVariables(db, row.id)).map((variable) =>
        presentScheduleVariable(services.secretKey, variable),
      ),
    }),
  };
}
