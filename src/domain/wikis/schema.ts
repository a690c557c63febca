/** Fields of requests and responses of wikis (facts: Wiki page, WikiPageBasic). */
import Type, { type Static } from 'typebox';
import {
  atLeastOne,
  file,
  notBlank,
  parameterRules,
  stringEnum,
} from '../../platform/http/parameters/schema.ts';
import { type FrontMatter, keyPattern } from './front-matter.ts';
import { formats } from './wiki-pages.ts';

const format = stringEnum(formats, { description: 'Markup of the page.' });

const basic = {
  format,
  slug: Type.String({ description: 'Path of the page without the ending of its file.' }),
  title: Type.String(),
  wiki_page_meta_id: Type.Integer({ description: 'Stays when the page gets another title.' }),
};

const contents = {
  content: Type.String(),
  encoding: Type.String(),
  front_matter: Type.Unsafe<FrontMatter>({ type: 'object', additionalProperties: true }),
};

export const WikiPage = Type.Object({ ...basic, ...contents });
export type WikiPage = Static<typeof WikiPage>;

/** In lists: with the contents where they are requested. */
export const WikiPageItem = Type.Object({ ...basic, ...Type.Partial(Type.Object(contents)).properties });

export const WikiAttachment = Type.Object({
  file_name: Type.String(),
  file_path: Type.String(),
  branch: Type.String(),
  link: Type.Object({ url: Type.String(), markdown: Type.String() }),
});
export type WikiAttachment = Static<typeof WikiAttachment>;

export const ListInput = Type.Object({
  with_content: Type.Optional(
    Type.Boolean({ default: false, description: 'The contents of the pages too.' }),
  ),
});

export const SlugInput = Type.Object({
  slug: Type.String({ description: 'Slug of the page; slashes as `%2F`.' }),
});

export const ReadInput = Type.Object({
  ...SlugInput.properties,
  version: Type.Optional(Type.String({ description: 'The commit to read the page from.' })),
});

const front_matter = Type.Optional(
  Type.Record(Type.String(), Type.String(), {
    ruled: { propertyNames: { pattern: keyPattern } },
    description: 'Written before the content, such as a `title`; nothing removes what was there.',
  }),
);

export const CreateInput = Type.Object({
  title: Type.String({ ...notBlank, description: 'Title of the page; slashes make folders.' }),
  content: Type.String(),
  format: Type.Optional(format),
  front_matter,
});
export type CreateInput = Static<typeof CreateInput>;

const changes = Type.Partial(
  Type.Pick(CreateInput, ['content', 'title', 'format', 'front_matter']),
).properties;
export const UpdateInput = Type.Object(
  { ...SlugInput.properties, ...changes },
  parameterRules(atLeastOne(['content', 'title', 'format', 'front_matter'], '400 Bad request')),
);
export type UpdateInput = Static<typeof UpdateInput>;

export const AttachmentInput = Type.Object({
  file: file({ description: 'Kept in the repository of the wiki.' }),
  branch: Type.Optional(Type.String({ description: "By default the wiki's default branch." })),
});
export type AttachmentInput = Static<typeof AttachmentInput>;
