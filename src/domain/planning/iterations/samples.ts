/** Iterations are made by cadences, of which there are none yet. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  fields: { iteration_id: null },
  lists: { 'GET /groups/:id/iterations': 'empty', 'GET /projects/:id/iterations': 'empty' },
};
