/** Templates, which are no rows. */
import type { Samples } from '../../../test/support/samples.ts';

const kinds = ['dockerfiles', 'gitignores', 'gitlab_ci_ymls', 'licenses'];

export const samples: Samples = {
  objects: {
    'dockerfiles/:name': { value: 'Node' },
    'gitignores/:name': { value: 'Node' },
    'gitlab_ci_ymls/:name': { value: 'Bash' },
    'licenses/:name': { value: 'mit' },
  },
  lists: Object.fromEntries(
    kinds.flatMap((kind) => [
      [`GET /templates/${kind}`, 'fixed'],
      [`GET /projects/:id/templates/${kind}`, 'fixed'],
    ]),
  ),
};
