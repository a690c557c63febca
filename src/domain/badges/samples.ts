/** A badge by each user, of the project and of the group by turns. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into badges (project_id, namespace_id, name, link_url, image_url, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, username,
        'https://example.org/%{project_path}/%{commit_sha}', 'https://example.org/%{latest_tag}.svg', now(), now()
      from person, generate_series(1, 2) x order by id, x`,
  objects: { 'badges/:badge_id': 'badges' },
};
