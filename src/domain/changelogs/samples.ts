/** Nothing of its own: the commits are those of the project's repository. */
import type { Samples } from '../../../test/support/samples.ts';

const changelog = { with: { version: '1.0.0', from: 'person-1' } };

export const samples: Samples = {
  requests: () => ({
    'GET /projects/:id/repository/changelog': changelog,
    'POST /projects/:id/repository/changelog': changelog,
  }),
};
