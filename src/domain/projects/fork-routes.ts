/** Forking a project. */
import { onProject } from '../../core/access/access.ts';
import { type Endpoint, endpoint } from '../../core/endpoint.ts';
import { forkProject } from './forks.ts';
import { ProjectRecord } from './routes.ts';
import { ForkProject } from './schema.ts';
import { showProject } from './write-routes.ts';

export const forkEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/fork',
    summary: "Forks a project into the caller's own namespace, or another one.",
    access: onProject('fork_project'),
    also: [409],
    input: ForkProject,
    reply: ProjectRecord,
    handle: async (context) => {
      const { services, settings, actor, subject, input } = context;
      return showProject(context, await forkProject(services, settings, actor, subject, input));
    },
  }),
];
