/** Clones and fetches of a project in the last 30 days (facts-packages: 7.1). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { date } from '../../../platform/http/parameters/schema.ts';
import { selectFetches } from './queries.ts';

export const fetchEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/statistics',
    summary: 'How often a project was cloned and fetched on each of the last 30 days.',
    access: onProject('read_project_statistics'),
    reply: Type.Object({
      fetches: Type.Object({
        total: Type.Integer(),
        days: Type.Array(Type.Object({ count: Type.Integer(), date: date() })),
      }),
    }),
    handle: async ({ db, subject }) => {
      const days = await selectFetches(db, subject.id);
      return { fetches: { total: days.reduce((total, { count }) => total + count, 0), days } };
    },
  }),
];
