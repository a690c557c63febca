/** Searches are in what other resources have. */
import type { Samples } from '../../../test/support/samples.ts';

const people = { query: 'scope=users&search=person' };
const ofProject = { with: { scope: 'issues' } };

export const samples: Samples = {
  requests: () => ({
    'GET /search, in issues': { with: { scope: 'issues' } },
    'GET /groups/:id/search, in issues': { with: { scope: 'issues' } },
    'GET /projects/:id/search': ofProject,
    'GET /projects/:id/-/search': ofProject,
    'GET /projects/:id/search, in notes': { with: { scope: 'notes' } },
    'GET /projects/:id/search, in files': { with: { scope: 'blobs' } },
    'GET /projects/:id/search, in the wiki': { with: { scope: 'wiki_blobs' } },
  }),
  lists: {
    'GET /search': people,
    'GET /groups/:id/search': people,
    'GET /groups/:id/-/search': people,
    'GET /projects/:id/search': people,
    'GET /projects/:id/-/search': people,
  },
};
