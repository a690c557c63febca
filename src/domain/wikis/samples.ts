/** A page by each user's name in the wikis of the project and of the group. */

import { importStream } from '../../../test/support/repositories.ts';
import type { Samples } from '../../../test/support/samples.ts';
import { git } from '../../platform/git/program/program.ts';
import { groupWiki, projectWiki } from '../repositories/index.ts';

const changed = { with: { content: 'New' } };

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into wiki_pages (project_id, group_id, slug, title, created_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, username, replace(username, '-', ' '), now()
      from person, generate_series(1, 2) x order by id, x`,
  async fill(app, count, { project, group }) {
    const { database, repositories } = app.app.services;
    await database.sql`insert into group_wikis (id, repository_storage, created_at, updated_at)
      values (${group}, 'default', now(), now())`;
    const pages = Array.from({ length: count }, (_, index) => [`person-${index + 1}.md`, 'Hello']);
    const input = importStream([Object.fromEntries(pages)]);
    for (const key of [projectWiki(project), groupWiki(group)])
      await repositories.write(key, 'main', ({ folder }) =>
        git(['fast-import', '--quiet'], { folder, input }),
      );
  },
  objects: {
    'wikis/:slug': {
      table: 'wiki_pages',
      column: 'slug',
      where: ({ project, group }, path) =>
        path.startsWith('/groups/') ? `group_id = ${group}` : `project_id = ${project}`,
    },
  },
  requests: () => ({
    'PUT /projects/:id/wikis/:slug': changed,
    'PUT /groups/:id/wikis/:slug': changed,
    'POST /projects/:id/wikis/attachments': { file: 'file' },
    'POST /groups/:id/wikis/attachments': { file: 'file' },
  }),
};
