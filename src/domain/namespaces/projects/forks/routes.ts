/** Forking a project. */
import { onProject } from '../../../../kernel/access/access.ts';
import { type Endpoint, endpoint } from '../../../../kernel/api/endpoint.ts';
import { showProject } from '../changes/routes.ts';
import { ForkProject } from '../changes/schema.ts';
import { ProjectRecord } from '../reading/routes.ts';
import { forkProject } from './actions.ts';

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
