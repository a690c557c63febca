/** Snippets in requests. */
import Type, { type Static } from 'typebox';
import { visibilityNames } from '../../kernel/policy/roles.ts';
import {
  atLeastOne,
  atMostOne,
  dateTime,
  deprecated,
  exactlyOne,
  integerId,
  notBlank,
  nullable,
  parameterRules,
  stringEnum,
} from '../../platform/http/parameters/schema.ts';

/** Bytes of a request's body: files come inside JSON. */
export const BODY_LIMIT = 32 * 1_048_576;
export const MAX_FILES = 10;

const title = Type.String({ maxLength: 255, ...notBlank });
const description = Type.Optional(nullable(Type.String({ maxLength: 1_048_576 })));
const visibility = stringEnum(visibilityNames);
const oneFile = {
  file_name: Type.Optional(deprecated(Type.String(), 'files')),
  content: Type.Optional(deprecated(Type.String(), 'files')),
};

const filled = { ruled: { minLength: 1 } };
const NewFile = Type.Object({ file_path: Type.String(filled), content: Type.String(filled) });

const FileChange = Type.Object({
  action: stringEnum(['create', 'update', 'delete', 'move']),
  file_path: Type.Optional(Type.String()),
  previous_path: Type.Optional(Type.String({ description: 'Where a file that moves was.' })),
  content: Type.Optional(Type.String()),
});
export type FileChange = Static<typeof FileChange>;

const create = {
  title,
  description,
  ...oneFile,
  files: Type.Optional(Type.Array(NewFile, { minItems: 1, maxItems: MAX_FILES })),
};
const update = {
  title: Type.Optional(title),
  description,
  visibility: Type.Optional(visibility),
  ...oneFile,
  files: Type.Optional(Type.Array(FileChange, { minItems: 1, maxItems: 2 * MAX_FILES })),
};

/** The files in one form or the other. */
const inOneForm = [exactlyOne('files', 'file_name'), atMostOne('files', 'content')];
const some = [
  atLeastOne(Object.keys(update)),
  atMostOne('files', 'file_name'),
  atMostOne('files', 'content'),
];

export const CreatePersonal = Type.Object(
  { ...create, visibility: Type.Optional(visibility) },
  parameterRules(...inOneForm),
);
export type CreateInput = Static<typeof CreatePersonal>;
export const UpdatePersonal = Type.Object(update, parameterRules(...some));
export type UpdateInput = Static<typeof UpdatePersonal>;

export const OnePersonal = Type.Object({ id: integerId() });

const ofProject = { snippet_id: integerId() };
export const CreateInProject = Type.Object({ ...create, visibility }, parameterRules(...inOneForm));
export const OneOfProject = Type.Object(ofProject);
export const UpdateInProject = Type.Object({ ...ofProject, ...update }, parameterRules(...some));

const file = {
  ref: Type.String({ description: 'A branch, a tag or a commit.' }),
  file_path: Type.String({ description: 'The path of the file, URL-encoded.' }),
};
export const FileOfPersonal = Type.Object(file);
export const FileOfProject = Type.Object({ ...ofProject, ...file });

const times = {
  created_after: Type.Optional(dateTime()),
  created_before: Type.Optional(dateTime()),
};
export const ListInput = Type.Object(times);
export const ListAllInput = Type.Object({
  ...times,
  repository_storage: Type.Optional(Type.String({ description: 'For administrators.' })),
});

export const UserAgentOfProject = Type.Object({ ...ofProject, id: Type.String() });

export const UserAgentDetail = Type.Object({
  user_agent: Type.String(),
  ip_address: Type.String(),
  akismet_submitted: Type.Boolean(),
});
export type UserAgentDetail = Static<typeof UserAgentDetail>;
