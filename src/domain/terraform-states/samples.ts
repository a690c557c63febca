/** A state of each user, named as they are, with one version. */
import type { Samples } from '../../../test/support/samples.ts';
import { seal } from '../../platform/secret.ts';

const STATE = '{"version": 4, "serial": 1}';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into terraform_states (project_id, name, created_at, updated_at)
      select ${project}, username, now(), now() from person order by id;
    insert into terraform_state_versions (state_id, serial, content, created_at)
      select id, 1, '', now() from terraform_states order by id`,
  async fill({ app }) {
    const { database, secretKey } = app.services;
    await database.sql`update terraform_state_versions set content = ${seal(secretKey, STATE)}`;
  },
  objects: {
    'state/:name': {
      table: 'terraform_states',
      column: 'name',
      where: ({ project }) => `project_id = ${project}`,
    },
    'versions/:serial': { value: 1 },
  },
  requests: () => ({
    'POST /projects/:id/terraform/state/:name': { body: STATE },
    'POST /projects/:id/terraform/state/:name/lock': { at: { name: 'new' }, with: { ID: 'of-the-new' } },
  }),
};
