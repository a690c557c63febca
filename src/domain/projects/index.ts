/** Projects: listed, created, changed, moved, shared, starred, and deleted with a delay. */
import { sql } from 'kysely';
import type { Capability } from '../../core/capability.ts';
import { notificationFacts } from '../../core/notifications/events.ts';
import { notificationSubjects } from '../../core/notifications/subjects.ts';
import { forkEndpoints } from './fork-routes.ts';
import { listEndpoints } from './list-routes.ts';
import { projectFact, projectSubject } from './notification-subject.ts';
import { peopleEndpoints } from './people-routes.ts';
import { readEndpoints } from './routes.ts';
import { writeEndpoints } from './write-routes.ts';

export { movableProjects } from './storage-moves.ts';

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
