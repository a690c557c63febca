/** Requests for the plan that there is. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  requests: () => ({
    'PUT /application/plan_limits': { with: { plan_name: 'default', ci_pipeline_schedules: 10 } },
  }),
};
