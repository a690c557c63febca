/** Groups and their subgroups, namespaces, and the background job that erases deleted ones. */
import type { Capability } from '../../../kernel/capability.ts';
import { deleteOverdue, eraseNamespace, eraseProject } from '../../../kernel/namespaces/erasure-actions.ts';
import type { Needs } from '../../../kernel/services.ts';
import { hookSources } from '../../hooks/index.ts';
import { groupHooks } from './hook-events.ts';
import { namespaceEndpoints } from './namespace-routes.ts';
import { readEndpoints } from './read-routes.ts';
import { writeEndpoints } from './write-routes.ts';

/** `all` are the mounted capabilities: each erases its own data before rows of projects go. */
export function groupsCapability(
  services: Needs<'database' | 'settings'>,
  all: () => readonly Capability[],
): Capability {
  const { background } = services.database;
  const erasers = () => all().flatMap((capability) => capability.erase ?? []);
  return {
    name: 'groups',
    registrations: [hookSources.add(...groupHooks)],
    endpoints: [...readEndpoints, ...writeEndpoints, ...namespaceEndpoints],
    tables: ['namespaces', 'group_group_links'],
    unique: { namespaces_full_path: { property: 'path' } },
    tasks: {
      'namespaces.erase': ({ namespace_id }) => eraseNamespace(background, erasers(), Number(namespace_id)),
      'projects.erase': ({ project_id }) => eraseProject(background, erasers(), Number(project_id)),
      'namespaces.delete_overdue': async () => {
        const { deletion_adjourned_period } = await services.settings.read();
        await deleteOverdue(background, deletion_adjourned_period);
      },
    },
    schedules: [{ task: 'namespaces.delete_overdue', pattern: '20 * * * *' }],
    listeners: [
      { fact: 'namespace_deleted', task: 'namespaces.erase' },
      { fact: 'project_deleted', task: 'projects.erase' },
    ],
  };
}
