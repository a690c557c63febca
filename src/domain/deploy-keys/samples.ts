/** A deploy key of each user, in the project and in the user's fork of it. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into deploy_keys (user_id, title, key, fingerprint, fingerprint_sha256, created_at, updated_at)
      select id, username, 'ssh-ed25519 BBBB' || id, 'md5-' || id, 'sha256-deploy-' || id, now(), now() from person order by id;
    insert into deploy_keys_projects (deploy_key_id, project_id, can_push, created_at)
      select id, ${project}, true, now() from deploy_keys
      union all
      select k.id, p.id, false, now() from deploy_keys k
      join projects p on p.creator_id = k.user_id and p.forked_from_id = ${project}`,
  guardedRows: () => `
    insert into deploy_keys (user_id, title, key, fingerprint, fingerprint_sha256, created_at, updated_at)
      select id, 'elsewhere', 'ssh-ed25519 CCCC', 'md5-elsewhere', 'sha256-elsewhere', now(), now()
      from person where username = 'person-2';
    insert into deploy_keys_projects (deploy_key_id, project_id, can_push, created_at)
      select k.id, p.id, false, now() from deploy_keys k, projects p where k.title = 'elsewhere' and p.path = 'elsewhere'`,
  objects: {
    'deploy_keys/:key_id': {
      table: 'deploy_keys',
      where: ({ project }) =>
        `id in (select deploy_key_id from deploy_keys_projects where project_id = ${project})`,
    },
  },
  requests: async ({ id }) => ({
    'POST /projects/:id/deploy_keys/:key_id/enable, from out of sight': {
      at: { key_id: await id(`select id from deploy_keys where title = 'elsewhere'`) },
    },
    'PUT /projects/:id/deploy_keys/:key_id, to push': { with: { can_push: true, title: 'New' } },
  }),
};
