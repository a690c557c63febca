/** The versions of the module that the repository of the project is. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['repositories'],
  objects: {
    'go/:module_path': {
      table: 'projects',
      column: `(select '127.0.0.1/' || n.full_path || '/' || projects.path || '/@v/list' from namespaces n
        where n.id = projects.namespace_id)`,
      where: ({ project }) => `id = ${project}`,
    },
  },
};
