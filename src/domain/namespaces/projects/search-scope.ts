/** Projects in searches. */
import { BasicProject, presentBasicProject } from '../../../kernel/namespaces/project-records.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import type { SearchScope } from '../../search/index.ts';
import { searchProjects } from './search-queries.ts';

export const projectSearch: SearchScope<typeof BasicProject> = {
  record: BasicProject,
  async find(request) {
    const { services, settings, actor } = request;
    const view = {
      baseUrl: services.baseUrl(),
      settings,
      admin: actor?.admin ?? false,
      signedIn: actor !== undefined,
    };
    return mapPage(await searchProjects(request), (row) => presentBasicProject(view, row));
  },
};
