import type { Capability } from '../../../kernel/capability.ts';
import { hookSources } from '../../hooks/index.ts';
import { notificationFacts, notificationSubjects } from '../../notifications/index.ts';
import { reassignProjects } from './changes/relation-actions.ts';
import { writeEndpoints } from './changes/routes.ts';
import { forkEndpoints } from './forks/routes.ts';
import { projectHooks } from './hook-events.ts';
import { projectFact, projectSubject } from './notification-subject.ts';
import { peopleEndpoints } from './people-routes.ts';
import { listEndpoints } from './reading/list-routes.ts';
import { readEndpoints } from './reading/routes.ts';

export const projectsCapability = (): Capability => ({
  name: 'projects',
  registrations: [
    notificationFacts.add(projectFact),
    notificationSubjects.add(projectSubject),
    hookSources.add(...projectHooks),
  ],
  tables: ['projects', 'project_redirects', 'project_group_links', 'stars'],
  unique: {
    projects_path: { property: 'path', status: 'conflict' },
    projects_name: { property: 'name', status: 'conflict' },
    project_group_links_project_id_group_id_key: { property: 'base', status: 'conflict' },
  },
  reassign: reassignProjects,
  endpoints: [...readEndpoints, ...writeEndpoints, ...listEndpoints, ...forkEndpoints, ...peopleEndpoints],
});
