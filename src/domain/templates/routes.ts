/** Templates of files: of the instance for everybody, and of projects for those who read them. */
import { type Access, anyone, onProject } from '../../kernel/access/access.ts';
import type { Caller } from '../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing } from '../../kernel/api/endpoint.ts';
import { now } from '../../platform/clock.ts';
import { offsetPage, type Page, type PageRequest } from '../../platform/pagination/page.ts';
import { licenses, type TextKind, templatesOf, textKinds } from './kinds.ts';
import { filled } from './rules.ts';
import {
  License,
  type LicenseSource,
  ListLicenses,
  OneLicense,
  OneTemplate,
  Template,
  TemplateName,
} from './schema.ts';

const nouns: Record<TextKind, { many: string; one: string }> = {
  dockerfiles: { many: 'Dockerfiles', one: 'a Dockerfile' },
  gitignores: { many: 'files `.gitignore`', one: 'a file `.gitignore`' },
  gitlab_ci_ymls: { many: 'configuration files of pipelines', one: 'a configuration file of pipelines' },
};

/** One page of what is known whole. */
function pageOf<T>(items: readonly T[], page: PageRequest): Promise<Page<T>> {
  if (page.kind !== 'offset') throw new Error('this list has pages by offset');
  return offsetPage(page, items.slice(page.offset, page.offset + page.perPage + 1), async () => items.length);
}

const textEndpoints = <Subject>(
  path: string,
  kind: TextKind,
  access: Access<Subject, Caller>,
  whose: string,
): Endpoint[] => [
  listing({
    method: 'GET',
    path,
    summary: `Templates of ${nouns[kind].many}${whose}.`,
    access,
    page: 'offset',
    item: TemplateName,
    handle: async ({ page }) => {
      const names = [...(await templatesOf(kind)).keys()];
      return pageOf(
        names.map((name) => ({ key: name, name })),
        page,
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:name`,
    summary: `One template of ${nouns[kind].one}${whose}.`,
    access,
    input: OneTemplate,
    reply: Template,
    handle: async ({ input: { name } }) => ({
      name,
      content: found((await templatesOf(kind)).get(name), 'Template'),
    }),
  }),
];

const presentLicense = (license: LicenseSource, input: Partial<OneLicense>, caller: Caller): License => ({
  key: license.key,
  name: license.name,
  nickname: license.nickname,
  popular: license.popular,
  html_url: `https://choosealicense.com/licenses/${license.key}/`,
  source_url: license.source_url,
  description: license.description,
  conditions: license.conditions,
  permissions: license.permissions,
  limitations: license.limitations,
  content: filled(license.content, {
    project: input.project,
    fullname: input.fullname || caller?.name,
    year: now().getUTCFullYear(),
  }),
});

const oneLicense = <Subject>(path: string, access: Access<Subject, Caller>, whose: string): Endpoint =>
  endpoint({
    method: 'GET',
    path: `${path}/:name`,
    summary: `One template of a license${whose}.`,
    access,
    input: OneLicense,
    reply: License,
    handle: async ({ actor, input }) =>
      presentLicense(found((await licenses()).get(input.name.toLowerCase()), 'License'), input, actor),
  });

const ofProject = onProject('read_project');
const inProject = ' for a project';

export const templateEndpoints: Endpoint[] = [
  ...textKinds.flatMap((kind) => [
    ...textEndpoints(`/templates/${kind}`, kind, anyone, ''),
    ...textEndpoints(`/projects/:id/templates/${kind}`, kind, ofProject, inProject),
  ]),
  listing({
    method: 'GET',
    path: '/templates/licenses',
    summary: 'Templates of licenses.',
    access: anyone,
    page: 'offset',
    input: ListLicenses,
    item: License,
    handle: async ({ actor, input: { popular }, page }) => {
      const all = [...(await licenses()).values()];
      const wanted = popular === undefined ? all : all.filter((each) => each.popular === popular);
      const shown = await pageOf(wanted, page);
      return { ...shown, items: shown.items.map((each) => presentLicense(each, {}, actor)) };
    },
  }),
  oneLicense('/templates/licenses', anyone, ''),
  listing({
    method: 'GET',
    path: '/projects/:id/templates/licenses',
    summary: `Templates of licenses${inProject}.`,
    access: ofProject,
    page: 'offset',
    item: TemplateName,
    handle: async ({ page }) =>
      pageOf(
        Array.from((await licenses()).values(), ({ key, name }) => ({ key, name })),
        page,
      ),
  }),
  oneLicense('/projects/:id/templates/licenses', ofProject, inProject),
];
