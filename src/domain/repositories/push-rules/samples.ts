/** The push rule of the project and of the group, that asks for nothing. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into push_rules (project_id, created_at, updated_at) values (${project}, now(), now());
    insert into push_rules (namespace_id, created_at, updated_at) values (${group}, now(), now())`,
  requests: ({ projectId, groupId }) => ({
    'POST /projects/:id/push_rule': { at: { project: projectId('world/empty') } },
    'POST /groups/:id/push_rule': { at: { group: groupId('world/part-2') } },
  }),
  objectForDelete: () => ({ '/projects/:id/push_rule': {}, '/groups/:id/push_rule': {} }),
};
