/** Packages of projects and groups (facts: Packages). */
import { onGroup, onProject } from '../../../kernel/access/access.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { forbidden } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import type { KeysetRule } from '../../../platform/pagination/pagination.ts';
import { type AfterDeletion, deletePackage, deletePackageFile } from './actions.ts';
import { replyWithFile } from './download.ts';
import { presentAcross, presentFiles, presentPackage, presentPackages, presentPipeline } from './present.ts';
import {
  selectFile,
  selectFiles,
  selectGroupPackages,
  selectPackage,
  selectPackages,
  selectPipelinePage,
  selectWithVersions,
} from './queries.ts';
import {
  FilesInput,
  GroupListInput,
  GroupPackage,
  ListInput,
  OneFile,
  OnePackage,
  Package,
  PackageFile,
  PackagePipeline,
  PackageWithVersions,
} from './schema.ts';

const path = '/projects/:id/packages';
const pathOfOne = `${path}/:package_id` as const;
const files = `${pathOfOne}/package_files` as const;
const read = onProject('read_packages');
const remove = onProject('delete_packages');

/** By id, the newest first (spec: Pagination, Supported keyset resources). */
const newestFirst: KeysetRule = {
  type: 'Ci::Pipeline',
  orderBy: { id: 'integer' },
  sort: ['desc'],
  anonymous: false,
  signedIn: true,
  default: { orderBy: 'id', sort: 'desc' },
  link: 'cursor',
};

export const packagesEndpoint = listing({
  method: 'GET',
  path,
  summary: 'Packages of a project, the oldest first.',
  access: read,
  jobToken: true,
  page: 'offset',
  input: ListInput,
  item: Package,
  handle: async (context) => {
    const { db, subject, input, page } = context;
    const packages = await selectPackages(db, subject, input, page);
    return { ...packages, items: await presentPackages(context, subject, packages.items) };
  },
});

export const packageEndpoint = endpoint({
  method: 'GET',
  path: pathOfOne,
  summary: 'A package of a project.',
  access: read,
  jobToken: true,
  input: OnePackage,
  reply: PackageWithVersions,
  handle: async (context) => {
    const { db, subject, input } = context;
    const [row, ...others] = await selectWithVersions(db, subject, input.package_id);
    return presentPackage(context, subject, [found(row, 'Package'), ...others]);
  },
});

export const packageFilesEndpoint = listing({
  method: 'GET',
  path: files,
  summary: 'Files of a package.',
  access: read,
  jobToken: true,
  page: 'offset',
  input: FilesInput,
  item: PackageFile,
  handle: async (context) => {
    const { db, subject, input, page } = context;
    const row = found(await selectPackage(db, subject, input.package_id), 'Package');
    const selected = await selectFiles(db, row, input, page);
    return { ...selected, items: await presentFiles(context, subject, selected.items) };
  },
});

export const packageDownloadEndpoint = endpoint({
  method: 'GET',
  path: `${files}/:package_file_id/download`,
  summary: 'The content of a file of a package.',
  access: read,
  jobToken: true,
  also: downloadStatuses,
  input: OneFile,
  reply: bytesOf('application/octet-stream'),
  handle: async (context) => {
    const { db, subject, input } = context;
    const file = await selectFile(db, subject, input.package_id, input.package_file_id);
    return replyWithFile(context, found(file, 'Package File'));
  },
});

export const packageEndpoints = (after: AfterDeletion): Endpoint[] => [
  packagesEndpoint,
  listing({
    method: 'GET',
    path: '/groups/:id/packages',
    summary: 'Packages of the projects of a group and its subgroups, the oldest first.',
    access: onGroup('read_group'),
    page: 'offset',
    input: GroupListInput,
    item: GroupPackage,
    handle: async (context) => {
      const { db, actor, subject, input, page } = context;
      const packages = await selectGroupPackages(db, actor, subject, input, page);
      return { ...packages, items: await presentAcross(context, packages.items) };
    },
  }),
  packageEndpoint,
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a package of a project, with its files.',
    access: remove,
    jobToken: true,
    input: OnePackage,
    reply: noContent,
    handle: async (context) => {
      await deletePackage(context, context.input.package_id, context.unmodified, after);
      return null;
    },
  }),
  packageFilesEndpoint,
  endpoint({
    method: 'DELETE',
    path: `${files}/:package_file_id`,
    summary: 'Deletes a file of a package.',
    access: remove,
    jobToken: true,
    input: OneFile,
    reply: noContent,
    handle: async (context) => {
      await deletePackageFile(context, context.input, context.unmodified);
      return null;
    },
  }),
  packageDownloadEndpoint,
  listing({
    method: 'GET',
    path: `${pathOfOne}/pipelines`,
    summary: 'Pipelines whose jobs published files of a package, the newest first.',
    access: read,
    jobToken: true,
    page: newestFirst,
    input: OnePackage,
    item: PackagePipeline,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      if (!subject.may('read_pipelines')) throw forbidden();
      const row = found(await selectPackage(db, subject, input.package_id), 'Package');
      return mapPage(await selectPipelinePage(db, row, page), (pipeline) =>
        presentPipeline(context, subject, pipeline),
      );
    },
  }),
];
