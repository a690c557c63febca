/** Projects: listed, created, changed, moved, shared, starred, and deleted with a delay. */
import { sql } from 'kysely';
import type { Capability } from '../../../kernel/capability.ts';
import { notificationFacts, notificationSubjects } from '../../notifications/index.ts';
import { writeEndpoints } from './changes/routes.ts';
import { forkEndpoints } from './forks/routes.ts';
import { projectFact, projectSubject } from './notification-subject.ts';
import { peopleEndpoints } from './people-routes.ts';
import { listEndpoints } from './reading/list-routes.ts';
import { readEndpoints } from './reading/routes.ts';

export const projectsCapability = (): Capability => ({
  name: 'projects',
  registrations: [notificationFacts.add(projectFact), notificationSubjects.add(projectSubject)],
  tables: ['projects', 'project_redirects', 'project_group_links', 'stars'],
  async reassign(tx, userId, ghostId) {
    await sql`update projects set star_count = star_count - 1
      where id in (select project_id from stars where user_id = ${userId})`.execute(tx);
    await tx.deleteFrom('stars').where('user_id', '=', userId).execute();
    await tx.updateTable('projects').set({ creator_id: ghostId }).where('creator_id', '=', userId).execute();
  },
  endpoints: [...readEndpoints, ...writeEndpoints, ...listEndpoints, ...forkEndpoints, ...peopleEndpoints],
});
