/** What programs are told of what they published (facts-packages: 1.1, 1.2). */
import Type, { type Static } from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { Failure } from '../../../platform/failure.ts';
import { dateTime, nullable } from '../../../platform/http/parameters/schema.ts';
import type { Published } from './publish-actions.ts';

export const Created = Type.Object({ message: Type.Literal('201 Created') });
export const created: Static<typeof Created> = { message: '201 Created' };

/** 400 where the groups of the project take nothing twice. */
export const duplicate = (): Failure => new Failure('bad_request', 'Duplicate package is not allowed');

export const PublishedFile = Type.Object({
  id: Type.Integer(),
  package_id: Type.Integer(),
  created_at: dateTime(),
  updated_at: dateTime(),
  size: Type.Integer(),
  file_store: Type.Integer({ description: '1: on this server.' }),
  file_md5: Type.String(),
  file_sha1: Type.String(),
  file_sha256: Type.String(),
  file_name: Type.String(),
  verification_retry_at: nullable(dateTime()),
  verified_at: nullable(dateTime()),
  verification_failure: nullable(Type.String()),
  verification_retry_count: nullable(Type.Integer()),
  verification_checksum: nullable(Type.String()),
  verification_state: Type.Integer(),
  verification_started_at: nullable(dateTime()),
  new_file_path: nullable(Type.String()),
  file: Type.Object({ url: Type.String() }),
});

/** Nothing verifies files a second time: those fields are as the public API has them for a new file. */
export const presentPublished = (
  baseUrl: string,
  { id: projectId }: Pick<AuthorizedProject, 'id'>,
  { file }: Published,
): Static<typeof PublishedFile> => ({
  id: file.id,
  package_id: file.package_id,
  created_at: file.created_at.toISOString(),
  updated_at: file.created_at.toISOString(),
  size: file.size,
  file_store: 1,
  file_md5: file.md5.toString('hex'),
  file_sha1: file.sha1.toString('hex'),
  file_sha256: file.sha256.toString('hex'),
  file_name: file.file_name,
  verification_retry_at: null,
  verified_at: null,
  verification_failure: null,
  verification_retry_count: null,
  verification_checksum: null,
  verification_state: 0,
  verification_started_at: null,
  new_file_path: null,
  file: {
    url: `${baseUrl}/api/v4/projects/${projectId}/packages/${file.package_id}/package_files/${file.id}/download`,
  },
});
