/** A Composer package for each user, of the last commit. */
import type { Samples } from '../../../../test/support/samples.ts';

const packages = ({ project }: { project: number }) =>
  `package_type = 'composer' and project_id = ${project}`;

export const samples: Samples = {
  after: ['packages', 'repositories'],
  async fill({ app }, _, { project }) {
    await app.services.database.sql.unsafe(`
      insert into packages (project_id, package_type, name, version, metadata, creator_id, created_at, updated_at)
      select ${project}, 'composer', 'acme/' || username, '1.0.0', jsonb_build_object('description', '{}'::jsonb, 'sha',
        (select sha from pipelines where project_id = ${project} and source = 'external' order by id desc limit 1)),
        id, now(), now() from users where username like 'person-%' order by id`);
  },
  objects: {
    'group/:id': { table: 'namespaces', where: ({ group }) => `id = ${group}` },
    'p2/:package_path': { table: 'packages', column: `name || '.json'`, where: packages },
    'archives/:package_path': { table: 'packages', column: `name || '.zip'`, where: packages },
  },
  requests: async ({ project, text }) => ({
    'POST /projects/:id/packages/composer': { with: { branch: 'main', tag: null } },
    'GET /projects/:id/packages/composer/archives/:package_path': {
      with: {
        sha: await text(`select metadata ->> 'sha' from packages where ${packages({ project })} limit 1`),
      },
    },
  }),
};
