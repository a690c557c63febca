/** Uploaded files as records (facts: Projects, uploads). */
import Type, { type Static } from 'typebox';
import { dateTime, file, nullable } from '../../platform/http/parameters/schema.ts';

/** The record of a new upload, with the Markdown for its author's text. */
export const NewUploadRecord = Type.Object({
  id: Type.Integer(),
  alt: Type.String(),
  url: Type.String({ description: 'In a text of the same project or group.' }),
  full_path: Type.String({ description: 'From the root of this instance.' }),
  markdown: Type.String(),
});
export type NewUploadRecord = Static<typeof NewUploadRecord>;

export const UploadRecord = Type.Object({
  id: Type.Integer(),
  size: Type.Integer({ description: 'Bytes.' }),
  filename: Type.String(),
  created_at: dateTime(),
  uploaded_by: nullable(Type.Object({ id: Type.Integer(), name: Type.String(), username: Type.String() })),
});
export type UploadRecord = Static<typeof UploadRecord>;

/** The body is streamed past the decoder: a missing file is noticed at its end. */
export const UploadInput = Type.Object(
  { file: Type.Optional(file({ description: 'Read as it comes.' })) },
  { ruled: { required: ['file'] } },
);

export const IdInput = Type.Object({ upload_id: Type.Integer({ minimum: 1 }) });

export const SecretInput = Type.Object({
  secret: Type.String({ description: '32 hex digits.' }),
  filename: Type.String(),
});
