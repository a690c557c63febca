/** A release at each user's tag, with a link and evidence, in the project's first milestone. */
import type { Samples } from '../../../test/support/samples.ts';

const ofProject = (project: number): string =>
  `release_id in (select id from releases where project_id = ${project})`;

export const samples: Samples = {
  after: ['planning/milestones'],
  rows: ({ project }) => `
    insert into releases (project_id, tag, author_id, released_at, created_at, updated_at)
      select ${project}, username, id, now(), now(), now() from person order by id;
    insert into release_links (release_id, name, url, filepath, link_type, created_at, updated_at)
      select r.id, p.username, 'https://example.com/' || p.username, '/bin/' || p.username, 'package', now(), now()
      from releases r, person p where r.project_id = ${project} order by r.id, p.id;
    insert into release_milestones (release_id, milestone_id)
      select r.id, m.id from releases r, milestones m
      where r.project_id = ${project} and m.project_id = ${project} and m.iid = 1;
    insert into release_evidences (release_id, sha, document, collected_at)
      select id, '', '{}', now() from releases where project_id = ${project}`,
  ownRows: ({ user, project }) => `
    insert into releases (project_id, tag, author_id, released_at, created_at, updated_at)
      values (${project}, 'own', ${user}, now(), now(), now())`,
  objects: {
    'releases/:tag_name': { table: 'releases', column: 'tag', foreign: true },
    'links/:link_id': { table: 'release_links', where: ({ project }) => ofProject(project) },
    'downloads/:direct_asset_path': { value: 'bin/person-1' },
    'latest/:suffix_path': { value: 'assets' },
  },
  fields: { milestone_ids: 'milestones' },
  requests: () => ({
    'POST /projects/:id/releases, at a protected tag': { with: { tag_name: 'held', ref: 'main' } },
    'PUT /projects/:id/releases/:tag_name, at a protected tag': {
      at: { tag_name: 'person-2' },
      with: { name: 'One' },
    },
    'DELETE /projects/:id/releases/:tag_name, at a protected tag': { at: { tag_name: 'person-2' } },
    'POST /projects/:id/releases/:tag_name/evidence, at a protected tag': { at: { tag_name: 'person-2' } },
    'POST /projects/:id/releases/:tag_name/assets/links, at a protected tag': {
      at: { tag_name: 'person-2' },
      with: { name: 'One', url: 'https://example.com/one' },
    },
    'POST /projects/:id/releases': { with: { tag_name: 'new', ref: 'main' } },
    'PUT /projects/:id/releases/:tag_name': { with: { name: 'One' } },
    'PUT /projects/:id/releases/:tag_name/assets/links/:link_id': { with: { name: 'One' } },
    'POST /projects/:id/releases/:tag_name/assets/links': {
      with: { name: 'One', url: 'https://example.com/one' },
    },
  }),
};
