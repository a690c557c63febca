/** Exports of single relations of projects and groups, as another instance fetches them: the same for both. */

import Type from 'typebox';
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup, AuthorizedProject } from '../../../kernel/access/find.ts';
import type { AuditedEntity } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { downloadStatuses, replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import { Accepted, accepted, bytesOf, type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { Failure } from '../../../platform/failure.ts';
import type { Owner } from '../relations/export-queries.ts';
import { type RelationExportRow, requestRelationExports, selectRelationExports } from './actions.ts';
import { DownloadInput, RelationStatusRecord, StartInput, StatusInput } from './schema.ts';

const numbers: Record<string, number> = { started: 0, finished: 1, failed: -1 };

const present = ({
  relation,
  status,
  error,
  updated_at,
  objects,
}: RelationExportRow): RelationStatusRecord => ({
  relation,
  status: numbers[status] ?? 0,
  error,
  updated_at: updated_at.toISOString(),
  batched: false,
  batches_count: 0,
  total_objects_count: objects,
});

function endpointsOf<Subject>(of: {
  path: '/projects/:id' | '/groups/:id';
  word: string;
  access: Access<Subject, Actor>;
  setting: 'project_export_limit' | 'group_export_limit';
  ownerOf(subject: Subject): Owner;
  entityOf(subject: Subject): AuditedEntity;
}): Endpoint[] {
  const { path, word, access, setting, ownerOf, entityOf } = of;
  return [
    endpoint({
      method: 'POST',
      path: `${path}/export_relations`,
      summary: `Makes a file of each kind of records of a ${word}.`,
      access,
      limit: { name: `${word}_relations_export`, setting, periodSeconds: 60 },
      input: StartInput,
      reply: Accepted,
      status: 202,
      async handle({ services, actor, subject }) {
        await requestRelationExports(services, actor, ownerOf(subject), entityOf(subject));
        return accepted();
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/export_relations/status`,
      summary: `How far the files of a ${word} are.`,
      access,
      input: StatusInput,
      reply: Type.Array(RelationStatusRecord, { maxItems: 100 }),
      handle: async ({ db, subject, input }) =>
        (await selectRelationExports(db, ownerOf(subject), input.relation)).map(present),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/export_relations/download`,
      summary: `A file of one kind of records of a ${word}: lines of JSON, in gzip.`,
      access,
      also: downloadStatuses,
      input: DownloadInput,
      reply: bytesOf('application/gzip'),
      async handle({ db, services, subject, input, request }) {
        const [row] = await selectRelationExports(db, ownerOf(subject), input.relation);
        if (!row?.sha256) throw new Failure('not_found', '404 Export file does not exist');
        const name = `${row.relation}.ndjson.gz`;
        return replyWithBlob(services, request, {
          sha256: row.sha256,
          name,
          contentType: 'application/gzip',
        });
      },
    }),
  ];
}

export const relationExportEndpoints: Endpoint[] = [
  ...endpointsOf<AuthorizedProject>({
    path: '/projects/:id',
    word: 'project',
    access: onProject('export_project'),
    setting: 'project_export_limit',
    ownerOf: ({ id }) => ({ column: 'project_id', id }),
    entityOf: ({ id, fullPath }) => ({ type: 'Project', id, path: fullPath }),
  }),
  ...endpointsOf<AuthorizedGroup>({
    path: '/groups/:id',
    word: 'group',
    access: onGroup('export_group'),
    setting: 'group_export_limit',
    ownerOf: ({ id }) => ({ column: 'namespace_id', id }),
    entityOf: ({ id, row }) => ({ type: 'Group', id, path: row.full_path }),
  }),
];
