/** Repositories of images and their tags (facts: Container registry). */
import { onGroup } from '../../../kernel/access/access.ts';
import {
  Accepted,
  accepted,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
} from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import type { KeysetRule } from '../../../platform/pagination/pagination.ts';
import { deleteImages, deleteTags, readImage, readImages } from '../access/rest.ts';
import { deleteOneTag, scheduleRemoval, scheduleTagsRemoval } from './actions.ts';
import { presentRepositories, presentRepository, presentTag, presentTagDetails } from './present.ts';
import {
  selectGroupRepositories,
  selectRepositories,
  selectRepositoryRow,
  selectTagDetails,
  selectTagPage,
} from './queries.ts';
import {
  ListInput,
  OneInput,
  OneRepository,
  OneTag,
  RegistryRepository,
  RegistryTag,
  RegistryTagDetails,
  TagsDeletion,
  TagsInput,
} from './schema.ts';

const path = '/projects/:id/registry/repositories';
const pathOfOne = `${path}/:repository_id` as const;
const tags = `${pathOfOne}/tags` as const;
const pathOfTag = `${tags}/:tag_name` as const;
const NOUN = 'Container Repository';

/** By name (spec: Pagination, Supported keyset resources). */
const byName: KeysetRule = {
  type: 'ContainerRegistry::Tag',
  orderBy: { name: 'text' },
  sort: ['asc', 'desc'],
  anonymous: false,
  signedIn: true,
  default: { orderBy: 'name', sort: 'asc' },
  link: 'cursor',
};

export const repositoryEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Repositories of images of a project, the oldest first.',
    access: readImages,
    jobToken: true,
    page: 'offset',
    input: ListInput,
    item: RegistryRepository,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      const rows = await selectRepositories(db, subject, input, page);
      return { ...rows, items: await presentRepositories(context, rows.items, input) };
    },
  }),
  listing({
    method: 'GET',
    path: '/groups/:id/registry/repositories',
    summary: 'Repositories of images in the projects of a group and its subgroups, the oldest first.',
    access: onGroup('read_group'),
    page: 'offset',
    item: RegistryRepository,
    handle: async (context) => {
      const { db, actor, subject, page } = context;
      const rows = await selectGroupRepositories(db, actor, subject, page);
      return { ...rows, items: await presentRepositories(context, rows.items, {}) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/registry/repositories/:id',
    summary: 'A repository of images.',
    access: readImage,
    jobToken: true,
    input: OneInput,
    reply: RegistryRepository,
    handle: async (context) => {
      const { db, subject, input } = context;
      const row = await selectRepositoryRow(db, subject, input.id, input);
      return presentRepository(context, found(row, NOUN), input);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a repository of images, in the background.',
    access: deleteImages,
    jobToken: true,
    input: OneRepository,
    status: 202,
    reply: Accepted,
    handle: async (context) => {
      await scheduleRemoval(context, context.input.repository_id, context.unmodified);
      return accepted();
    },
  }),
  listing({
    method: 'GET',
    path: tags,
    summary: 'Tags of a repository of images, by name.',
    access: readImages,
    jobToken: true,
    page: byName,
    input: TagsInput,
    item: RegistryTag,
    handle: async ({ db, services, subject, input, page }) => {
      const repository = found(await selectRepositoryRow(db, subject, input.repository_id), NOUN);
      const rows = await selectTagPage(db, repository.id, input.sort ?? 'asc', page);
      return mapPage(rows, (row) => presentTag(services, repository, row));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: tags,
    summary: 'Deletes tags of a repository by their names and ages, in the background, once an hour.',
    access: deleteImages,
    jobToken: true,
    input: TagsDeletion,
    status: 202,
    reply: Accepted,
    handle: async (context) => {
      await scheduleTagsRemoval(context, context.input, context.unmodified);
      return accepted();
    },
  }),
  endpoint({
    method: 'GET',
    path: pathOfTag,
    summary: 'A tag of a repository of images.',
    access: readImages,
    jobToken: true,
    input: OneTag,
    reply: RegistryTagDetails,
    handle: async ({ db, services, subject, input }) => {
      const repository = found(await selectRepositoryRow(db, subject, input.repository_id), NOUN);
      const tag = found(await selectTagDetails(db, repository.id, input.tag_name), 'Tag');
      return presentTagDetails(services, repository, tag);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfTag,
    summary: 'Deletes a tag of a repository of images.',
    access: deleteTags,
    jobToken: true,
    input: OneTag,
    status: 200,
    reply: noContent,
    handle: async (context) => {
      await deleteOneTag(context, context.input, context.unmodified);
      return null;
    },
  }),
];
