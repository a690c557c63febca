/** A repository of images by each user's name, with an image; the first has a tag for each, and so have rules that protect. The group keeps as many images of another registry. */
import type { Samples } from '../../../test/support/samples.ts';

const CONTENT = 'an image';
const SHA256 = `sha256('${CONTENT}')`;
const DIGEST = `'sha256:' || encode(${SHA256}, 'hex')`;

const levels = { minimum_access_level_for_push: 'maintainer', minimum_access_level_for_delete: 'maintainer' };
const tagsOfOne = '/projects/:id/registry/repositories/:repository_id/tags';
const patterns = { name_regex_delete: 'v.*' };

/** An image in each repository that has none. */
const images = `
  insert into container_manifests (repository_id, digest, media_type, sha256, size, config_digest, created_at)
    select id, ${DIGEST}, 'application/vnd.oci.image.manifest.v1+json', ${SHA256}, 8, ${DIGEST}, now()
    from container_repositories r where not exists (select from container_manifests m where m.repository_id = r.id)
    order by id`;

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into blobs (sha256, created_at) values (${SHA256}, now());
    insert into container_repositories (project_id, name, created_at, updated_at)
      select ${project}, username, now(), now() from person order by id;
    ${images};
    insert into container_tags (repository_id, name, manifest_id, created_at, updated_at)
      select m.repository_id, username, m.id, now(), now() from container_manifests m, person
      where m.repository_id = (select min(id) from container_repositories) order by person.id;
    insert into container_repository_protection_rules (project_id, below_project, push_level, created_at, updated_at)
      select ${project}, '/held-' || username, 40, now(), now() from person order by id;
    insert into container_tag_protection_rules (project_id, tag_name_pattern, push_level, delete_level, created_at, updated_at)
      select ${project}, 'held-' || username, 40, 40, now(), now() from person order by id;
    insert into dependency_proxy_settings (namespace_id, enabled, image_ttl_enabled, image_ttl, created_at, updated_at)
      values (${group}, true, false, 90, now(), now());
    insert into dependency_proxy_manifests (namespace_id, image, digest, media_type, sha256, size, created_at, pulled_at)
      select ${group}, 'library/' || username, ${DIGEST}, 'application/vnd.oci.image.manifest.v1+json', ${SHA256}, 8, now(), now()
      from person order by id;
    insert into dependency_proxy_tags (namespace_id, image, name, manifest_id)
      select namespace_id, image, 'latest', id from dependency_proxy_manifests;
    insert into dependency_proxy_blobs (namespace_id, digest, sha256, size, created_at, pulled_at)
      values (${group}, ${DIGEST}, ${SHA256}, 8, now(), now())`,
  ownRows: ({ project }) => `
    insert into container_repositories (project_id, name, created_at, updated_at)
      values (${project}, 'own', now(), now());
    ${images}`,
  objects: {
    'repositories/:repository_id': 'container_repositories',
    'repositories/:id': 'container_repositories',
    'rules/:protection_rule_id': {
      table: (path) => `container_${path.includes('/tag/') ? 'tag' : 'repository'}_protection_rules`,
    },
  },
  objectForDelete: () => ({ [tagsOfOne]: { with: patterns } }),
  requests: async ({ project, text }) => {
    const path = await text(`
      select lower(n.full_path || '/' || p.path) from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${project}`);
    return {
      [`DELETE ${tagsOfOne}`]: { with: patterns },
      'POST /projects/:id/registry/protection/repository/rules': {
        with: { repository_path_pattern: `${path}/new`, ...levels },
      },
      'PATCH /projects/:id/registry/protection/repository/rules/:protection_rule_id': {
        with: { repository_path_pattern: `${path}/newer` },
      },
      'PUT /groups/:id/dependency_proxy/settings': { with: { identity: 'mason', secret: 'a secret' } },
      'POST /projects/:id/registry/protection/tag/rules': { with: { tag_name_pattern: 'new', ...levels } },
      'PATCH /projects/:id/registry/protection/tag/rules/:protection_rule_id': {
        with: { tag_name_pattern: 'newer' },
      },
    };
  },
};
