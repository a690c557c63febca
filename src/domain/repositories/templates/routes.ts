/** Description templates of issues and merge requests (facts: Project templates). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { offsetPage } from '../../../platform/pagination/page.ts';
import { readTemplate, type TemplateType, templateNames } from './read-templates.ts';

const readAbility = { issues: 'read_issues', merge_requests: 'read_merge_requests' } as const;

const endpointsOf = (type: TemplateType): Endpoint[] => [
  listing({
    method: 'GET',
    path: `/projects/:id/templates/${type}`,
    summary: `The project's description templates of ${type.replace('_', ' ')}.`,
    also: [422],
    access: onProject(readAbility[type]),
    page: 'offset',
    item: Type.Object({ key: Type.String(), name: Type.String() }),
    handle: async ({ services, subject: project, page }) => {
      if (page.kind !== 'offset') throw new Error('this list has pages by offset');
      const names = await templateNames(services, project, type);
      const shown = names.slice(page.offset, page.offset + page.perPage + 1);
      return offsetPage(
        page,
        shown.map((name) => ({ key: name, name })),
        async () => names.length,
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: `/projects/:id/templates/${type}/:name`,
    summary: `One of the project's description templates of ${type.replace('_', ' ')}.`,
    also: [422],
    access: onProject(readAbility[type]),
    input: Type.Object({
      name: Type.String(),
      source_template_project_id: Type.Optional(
        integerId({ description: 'The project that keeps it: there are those of the project itself.' }),
      ),
    }),
    reply: Type.Object({ name: Type.String(), content: Type.String() }),
    handle: async ({ services, subject: project, input }) => {
      const { name, source_template_project_id: source = project.id } = input;
      const isWanted = (each: string) => each === name && source === project.id;
      return { name, content: found(await readTemplate(services, project, type, isWanted), 'Template') };
    },
  }),
];

export const templateEndpoints: Endpoint[] = [...endpointsOf('issues'), ...endpointsOf('merge_requests')];
