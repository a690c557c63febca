/** An audit event of the project and of the group by each user. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into audit_events (author_id, entity_type, entity_id, event_name, details, created_at)
      select id, case x when 1 then 'Project' else 'Group' end, case x when 1 then ${project} else ${group} end, 'changed',
        jsonb_build_object('author_name', username, 'target_id', id, 'target_type', 'User', 'target_details', username), now()
      from person, generate_series(1, 2) x order by id, x`,
  objects: {
    'audit_events/:id': 'audit_events',
    'audit_events/:audit_event_id': {
      table: 'audit_events',
      where: ({ project, group }, path) =>
        path.startsWith('/groups/')
          ? `entity_type = 'Group' and entity_id = ${group}`
          : `entity_type = 'Project' and entity_id = ${project}`,
    },
  },
  fields: { entity_id: null },
};
