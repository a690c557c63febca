/** Packages in requests and responses (facts: Resource entities, Package; Packages). */
import Type, { type Static } from 'typebox';
import { UserBasic } from '../../../kernel/users/records.ts';
import {
  dateTime,
  deprecated,
  integerId,
  nullable,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { PipelineBasic } from '../../repositories/index.ts';
import { packageStatuses, packageTypes } from './types.ts';

const filters = {
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'asc' })),
  package_type: Type.Optional(stringEnum(packageTypes)),
  package_name: Type.Optional(Type.String({ description: 'A part of the name, in any case.' })),
  package_version: Type.Optional(Type.String()),
  include_versionless: Type.Optional(
    Type.Boolean({ default: false, description: 'Those that are about all versions of a name as well.' }),
  ),
  status: Type.Optional(stringEnum([...packageStatuses, 'pending_destruction'])),
};

export const ListInput = Type.Object({
  order_by: Type.Optional(stringEnum(['created_at', 'name', 'version', 'type'], { default: 'created_at' })),
  ...filters,
});
export type ListInput = Omit<Static<typeof ListInput>, 'order_by'> & { order_by?: string };

export const GroupListInput = Type.Object({
  exclude_subgroups: Type.Optional(Type.Boolean({ default: false })),
  order_by: Type.Optional(
    stringEnum(['created_at', 'name', 'version', 'type', 'project_path'], { default: 'created_at' }),
  ),
  ...filters,
});
export type GroupListInput = Static<typeof GroupListInput>;

const one = { package_id: integerId() };
export const OnePackage = Type.Object(one);
export const OneFile = Type.Object({ ...one, package_file_id: integerId() });
export const FilesInput = Type.Object({
  ...one,
  order_by: Type.Optional(stringEnum(['id', 'created_at', 'file_name'], { default: 'id' })),
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'asc' })),
});

export const PackagePipeline = Type.Object({ ...PipelineBasic.properties, user: nullable(UserBasic) });
export type PackagePipeline = Static<typeof PackagePipeline>;

const tag = Type.Object({
  id: Type.Integer(),
  package_id: Type.Integer(),
  name: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
});
const pipelines = {
  pipeline: Type.Optional(deprecated(PackagePipeline, 'the last one of pipelines')),
  pipelines: Type.Array(PackagePipeline, {
    description: 'Whose jobs published it: the last five, the newest first.',
  }),
};

const common = {
  id: Type.Integer(),
  name: Type.String(),
  conan_package_name: Type.Optional(Type.String({ description: 'Without the version; of Conan only.' })),
  version: nullable(Type.String()),
  package_type: Type.String(),
  status: Type.String(),
  _links: Type.Object({
    web_path: Type.String(),
    delete_api_path: Type.Optional(Type.String({ description: 'For those who may delete it.' })),
  }),
  created_at: dateTime(),
  last_downloaded_at: nullable(dateTime()),
  tags: Type.Array(tag),
  ...pipelines,
};

export const Package = Type.Object(common);
export const GroupPackage = Type.Object({
  ...common,
  project_id: Type.Integer(),
  project_path: Type.String(),
});
export const PackageWithVersions = Type.Object({
  ...common,
  versions: Type.Array(
    Type.Object({
      id: Type.Integer(),
      version: Type.String(),
      created_at: dateTime(),
      tags: Type.Array(tag),
      ...pipelines,
    }),
    { description: 'The other versions of the same name: 100 at most.' },
  ),
});

export const PackageFile = Type.Object({
  id: Type.Integer(),
  package_id: Type.Integer(),
  created_at: dateTime(),
  file_name: Type.String(),
  size: Type.Integer(),
  file_md5: Type.String(),
  file_sha1: Type.String(),
  file_sha256: Type.String(),
  pipelines: Type.Array(PackagePipeline),
});
