/** A text that is checked; the files of commits are none. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  requests: () => ({
    'GET /projects/:id/ci/lint': { with: { content_ref: 'main', ref: 'main' } },
    'POST /projects/:id/ci/lint': { with: { content: 'build: {script: make}', ref: 'main' } },
  }),
};
