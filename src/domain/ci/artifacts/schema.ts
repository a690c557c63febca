/** Artifacts in requests and responses (facts: Jobs; facts for CI: Artifacts of the runner). */
import Type from 'typebox';
import { file, integerId, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { OneJob } from '../jobs/schema.ts';

const token = Type.Optional(
  Type.String({ maxLength: 255, description: 'The token of the job, if not in the header `JOB-TOKEN`.' }),
);
const artifact_type = Type.Optional(
  Type.String({ maxLength: 255, description: '`archive`, where it is not given, or the type of a report.' }),
);

/** The body is streamed past the decoder: a missing file is noticed at its end. */
export const UploadArtifact = Type.Object(
  {
    id: integerId(),
    token: Type.Optional(
      Type.String({
        maxLength: 255,
        description: 'The token of the job, in the address, if not in the header `JOB-TOKEN`.',
      }),
    ),
    file: Type.Optional(file({ description: 'Read as it comes.' })),
    artifact_type,
    artifact_format: Type.Optional(stringEnum(['raw', 'zip', 'gzip'])),
    expire_in: Type.Optional(
      Type.String({
        maxLength: 255,
        description: 'How long it is kept, such as `1 week`; `never` for ever.',
      }),
    ),
    accessibility: Type.Optional(
      stringEnum(['public', 'private'], { description: 'Where the job says nothing else.' }),
    ),
  },
  { ruled: { required: ['file'] } },
);

export const AuthorizeUpload = Type.Object({
  id: integerId(),
  token,
  artifact_type,
  filesize: Type.Optional(Type.Integer({ minimum: 0, description: 'Bytes.' })),
});
export const UploadAuthorized = Type.Object({ MaximumSize: Type.Integer({ description: 'Bytes.' }) });

export const OwnDownload = Type.Object({
  id: integerId(),
  token,
  direct_download: Type.Optional(Type.Boolean({ description: 'Has no effect: files are never elsewhere.' })),
});

const artifact_path = Type.String({ maxLength: 65_535, description: 'The path of a file in the archive.' });
export const ArchivedPath = Type.Object({ ...OneJob.properties, artifact_path });

export const ArchiveTree = Type.Object({
  ...OneJob.properties,
  path: Type.Optional(
    Type.String({
      maxLength: 65_535,
      description: 'The path of a folder in the archive; all of it without one.',
    }),
  ),
  recursive: Type.Optional(Type.Boolean({ default: false, description: 'With what is below the folder.' })),
});
export const ArchiveEntryRecord = Type.Object({
  name: Type.String(),
  path: Type.String(),
  type: stringEnum(['file', 'directory']),
  size: Type.Integer({ description: 'Bytes, unpacked.' }),
  mode: Type.String({ description: 'In octal digits, such as `100644`.' }),
});

const named = {
  ref_name: Type.String({ maxLength: 1_024, description: 'A branch or tag.' }),
  job: Type.String({ maxLength: 1_024, description: 'The name of the job.' }),
  search_recent_successful_pipelines: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether earlier successful pipelines are searched, where the last one has none.',
    }),
  ),
};
export const NamedArchive = Type.Object(named);
export const NamedPath = Type.Object({ ...named, artifact_path });
