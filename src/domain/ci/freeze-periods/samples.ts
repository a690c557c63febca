/** Freeze periods of the project, one for each user. */
import type { Samples } from '../../../../test/support/samples.ts';

const good = { freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1' };

export const samples: Samples = {
  rows: ({ project }) => `
    insert into freeze_periods (project_id, freeze_start, freeze_end, cron_timezone, created_at, updated_at)
      select ${project}, '0 23 * * 5', '0 7 * * 1', 'UTC', now(), now() from person order by id`,
  objects: { 'freeze_periods/:freeze_period_id': 'freeze_periods' },
  requests: () => ({
    'POST /projects/:id/freeze_periods': { with: good },
    'PUT /projects/:id/freeze_periods/:freeze_period_id': { with: good },
  }),
};
