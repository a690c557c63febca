/** Links of releases in requests and responses (facts: ReleasesLink). */
import Type, { type Static } from 'typebox';
import {
  atLeastOne,
  deprecated,
  integerId,
  nullable,
  parameterRules,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { linkPathPattern, linkTypes, linkUrlPattern } from './rules.ts';

const path = Type.String({ maxLength: 128, ruled: { pattern: linkPathPattern } });

const name = Type.String({
  maxLength: 255,
  ruled: { pattern: '\\S' },
  description: 'Of one link of a release.',
});
const url = Type.String({
  maxLength: 2_048,
  ruled: { format: 'uri', pattern: linkUrlPattern },
  description: 'By http, https or ftp; of one link of a release.',
});
const paths = {
  direct_asset_path: Type.Optional(
    nullable({
      ...path,
      description: 'An address below the release that leads to the link, `/bin/program`.',
    }),
  ),
  filepath: Type.Optional(deprecated(nullable(path), 'direct_asset_path')),
};
const link_type = Type.Optional(stringEnum(linkTypes, { default: 'other' }));

export const NewLink = Type.Object({ name, url, ...paths, link_type });
const changes = {
  name: Type.Optional(name),
  url: Type.Optional(url),
  ...paths,
  link_type: Type.Optional(stringEnum(linkTypes)),
};

const tag = { tag_name: Type.String({ description: 'The tag of the release.' }) };
const one = { ...tag, link_id: integerId() };
export const ListInput = Type.Object(tag);
export const OneInput = Type.Object(one);
export const CreateInput = Type.Object({ ...tag, ...NewLink.properties });
export const UpdateInput = Type.Object(
  { ...one, ...changes },
  parameterRules(atLeastOne(Object.keys(changes))),
);
export type LinkChanges = Omit<Static<typeof UpdateInput>, 'tag_name' | 'link_id'>;
export const DownloadInput = Type.Object({
  ...tag,
  direct_asset_path: Type.String({ description: 'The path of the link, its slashes included.' }),
});

export const ReleaseLink = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  url: Type.String(),
  direct_asset_url: Type.String(),
  link_type: Type.String(),
});
export type ReleaseLink = Static<typeof ReleaseLink>;
