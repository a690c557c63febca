/** Imports of projects and groups from archives. */
import { onProject, signedIn } from '../../../kernel/access/access.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { Accepted, accepted, type Endpoint, endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { badRequest } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { presentImport, presentRelationImport } from './present.ts';
import { selectNewestRelationImport, selectRelationImports } from './queries.ts';
import { receiveRemote } from './remote.ts';
import {
  type Requesting,
  refuseSource,
  requestedGroup,
  requestGroupImport,
  requestProjectImport,
  requestRelationImport,
  withArchive,
} from './request.ts';
import {
  GroupImportInput,
  ImportInput,
  ImportStatusRecord,
  RelationImportRecord,
  RelationInput,
  RemoteImportInput,
} from './schema.ts';

const limit = { name: 'project_import', setting: 'project_import_limit', periodSeconds: 60 } as const;

async function showImport(context: Requesting, id: number): Promise<ImportStatusRecord> {
  const { db, services, actor } = context;
  const project = await authorizeProject(services.database.sql, actor, 'read_project', id);
  // The job may be faster than the answer.
  return { ...(await presentImport(db, project)), import_status: 'scheduled' };
}

export const importEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/projects/import',
    summary: 'Makes a project from an export.',
    access: signedIn,
    also: [409],
    limit,
    input: ImportInput,
    stream: true,
    reply: ImportStatusRecord,
    async handle(context) {
      refuseSource(context.settings);
      return withArchive(context, async (archive, fields) => {
        const wanted = {
          path: fields.need('path'),
          name: fields.get('name'),
          namespace: fields.get('namespace') ?? fields.get('namespace_id') ?? fields.get('namespace_path'),
          overwrite: ['true', '1'].includes(fields.get('overwrite') ?? ''),
          override: fields.override,
        };
        return showImport(context, await requestProjectImport(context, wanted, archive));
      });
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/remote-import',
    summary: 'Makes a project from an export that another server has.',
    access: signedIn,
    also: [409],
    limit,
    input: RemoteImportInput,
    reply: ImportStatusRecord,
    async handle(context) {
      const { input, settings } = context;
      refuseSource(settings);
      return receiveRemote(context, input.url, async (archive) => {
        const wanted = {
          path: input.path,
          name: input.name,
          namespace: input.namespace ?? input.namespace_id ?? input.namespace_path,
          overwrite: input.overwrite,
          override: input.override_params,
        };
        return showImport(context, await requestProjectImport(context, wanted, archive));
      });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/import',
    summary: 'How far the import of a project is, and what was not imported.',
    access: onProject('read_project'),
    reply: ImportStatusRecord,
    handle: ({ db, subject }) => presentImport(db, subject),
  }),
  endpoint({
    method: 'POST',
    path: '/projects/import-relation',
    summary: 'Imports one kind of records of an export into a project.',
    access: signedIn,
    also: [409],
    limit,
    input: RelationInput,
    stream: true,
    reply: RelationImportRecord,
    async handle(context) {
      refuseSource(context.settings);
      return withArchive(context, async (archive, fields) => {
        const project = await requestRelationImport(context, fields, archive);
        const row = await selectNewestRelationImport(context.db, project.id);
        if (!row) throw badRequest('the project was deleted');
        return { ...presentRelationImport(project, row), status: 'created' as const };
      });
    },
  }),
  listing({
    method: 'GET',
    path: '/projects/:id/relation-imports',
    summary: 'Imports of single kinds of records into a project, the newest first.',
    access: onProject('read_imports'),
    page: 'offset',
    item: RelationImportRecord,
    handle: async ({ db, subject, page }) =>
      mapPage(await selectRelationImports(db, subject.id, page), (row) =>
        presentRelationImport(subject, row),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/groups/import',
    summary: 'Makes a group, and the groups below it, from an export.',
    access: signedIn,
    also: [409],
    limit: { name: 'group_import', setting: 'group_import_limit', periodSeconds: 60 },
    input: GroupImportInput,
    stream: true,
    reply: Accepted,
    status: 202,
    handle: (context) =>
      withArchive(context, async (archive, fields) => {
        await requestGroupImport(context, await requestedGroup(context, fields), archive);
        return accepted();
      }),
  }),
];
