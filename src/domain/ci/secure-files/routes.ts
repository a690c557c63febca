/** Secure files of projects (facts: CI lint, secure files, releases; facts-ci: 7.6). */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { downloadStatuses, replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { dateTime, file, integerId, nullable } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { deleteSecureFile, keepSecureFile } from './actions.ts';
import { type SecureFileRow, selectSecureFile, selectSecureFiles } from './queries.ts';
import { extensionOf } from './rules.ts';

const path = '/projects/:id/secure_files';
const pathOfOne = `${path}/:secure_file_id` as const;
const read = onProject('read_secure_files');
const manage = onProject('manage_secure_files');
const BYTES = 'application/octet-stream';

const OneFile = Type.Object({ secure_file_id: integerId() });

/** The body is streamed past the decoder: what is missing is noticed at its end. */
const NewFile = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        maxLength: 255,
        ruled: { pattern: '^[A-Za-z0-9_ .-]+$' },
        description: 'Letters, digits, `_`, `-`, `.` and spaces; no other file of the project has it.',
      }),
    ),
    file: Type.Optional(file({ description: 'Read as it comes; 5 MiB at most.' })),
  },
  { ruled: { required: ['name', 'file'] } },
);

const SecureFile = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  checksum: Type.String(),
  checksum_algorithm: Type.String(),
  created_at: dateTime(),
  expires_at: nullable(dateTime()),
  metadata: nullable(Type.Object({})),
  file_extension: nullable(Type.String()),
});

const present = (row: SecureFileRow): Static<typeof SecureFile> => ({
  id: row.id,
  name: row.name,
  checksum: row.sha256.toString('hex'),
  checksum_algorithm: 'sha256',
  created_at: row.created_at.toISOString(),
  expires_at: null,
  metadata: null,
  file_extension: extensionOf(row.name),
});

export const secureFileEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Secure files of a project, the oldest first.',
    access: read,
    jobToken: true,
    page: 'offset',
    item: SecureFile,
    handle: async ({ db, subject, page }) => mapPage(await selectSecureFiles(db, subject, page), present),
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Keeps a secure file of a project.',
    access: manage,
    jobToken: true,
    stream: true,
    input: NewFile,
    reply: SecureFile,
    handle: async (context) => present(await keepSecureFile(context, context.input)),
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'A secure file of a project, without its content.',
    access: read,
    jobToken: true,
    input: OneFile,
    reply: SecureFile,
    handle: async ({ db, subject, input }) =>
      present(found(await selectSecureFile(db, subject, input.secure_file_id), 'Secure File')),
  }),
  endpoint({
    method: 'GET',
    path: `${pathOfOne}/download`,
    summary: 'The content of a secure file of a project.',
    access: read,
    jobToken: true,
    also: downloadStatuses,
    input: OneFile,
    reply: bytesOf(BYTES),
    handle: async ({ db, services, subject, input, request }) => {
      const row = found(await selectSecureFile(db, subject, input.secure_file_id), 'Secure File');
      return replyWithBlob(services, request, { sha256: row.sha256, name: row.name });
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a secure file of a project.',
    access: manage,
    jobToken: true,
    input: OneFile,
    reply: noContent,
    handle: async (context) => {
      await deleteSecureFile(context, context.input.secure_file_id, context.unmodified);
      return null;
    },
  }),
];
