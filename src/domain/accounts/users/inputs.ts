/** Parameters of the endpoints over users (facts §2.1). */
import Type, { type Static, type TSchemaOptions } from 'typebox';
import { avatarFile } from '../../../kernel/files/pictures.ts';
import { mailAddress } from '../../../kernel/identity/addresses/rules.ts';
import { MAX_PASSWORD_LENGTH } from '../../../kernel/identity/passwords/rules.ts';
import { pathPattern } from '../../../kernel/namespaces/paths.ts';
import {
  atLeastOne,
  dateTime,
  notBlank,
  nullable,
  parameterRules,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { webAddress } from '../../../platform/http/web-address.ts';
import { discordPattern } from './rules.ts';

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const text = (description: string, maxLength = 255, options: TSchemaOptions = {}) =>
  Type.Optional(nullable(Type.String({ ...options, maxLength, description })));
const custom = Type.Optional(Type.Record(Type.String(), Type.String()));

export const CustomAttributeFields = {
  with_custom_attributes: flag('With custom attributes, for administrators.'),
  custom_attributes: custom,
};

export const UserFilters = Type.Object({
  username: Type.Optional(Type.String({ maxLength: 255, description: 'The user of this name.' })),
  public_email: Type.Optional(Type.String({ maxLength: 255, description: 'Users who show this address.' })),
  extern_uid: Type.Optional(
    Type.String({ maxLength: 255, description: 'Together with provider, for administrators.' }),
  ),
  provider: Type.Optional(Type.String({ maxLength: 255 })),
  search: Type.Optional(
    Type.String({ maxLength: 255, description: 'In name and username, or a whole mail address.' }),
  ),
  active: flag('Only active users.'),
  humans: flag('Only people.'),
  external: flag('Only external users; for administrators.'),
  blocked: flag('Only blocked users.'),
  pending_approval: flag('Only users who wait to be let in; for administrators.'),
  created_after: Type.Optional(dateTime({ description: 'For administrators.' })),
  created_before: Type.Optional(dateTime({ description: 'For administrators.' })),
  without_projects: flag('Only users without personal projects; for administrators.'),
  without_project_bots: flag('Without the users behind project and group access tokens.'),
  admins: flag('Only administrators; for administrators.'),
  auditors: flag('Only auditors; for administrators.'),
  two_factor: Type.Optional(stringEnum(['enabled', 'disabled'], { description: 'For administrators.' })),
  exclude_active: flag('Without active users.'),
  exclude_external: flag('Without external users.'),
  exclude_humans: flag('Without people: only bots and internal users.'),
  exclude_internal: flag('Without internal users such as the ghost.'),
  order_by: Type.Optional(stringEnum(['id', 'name', 'username', 'created_at', 'updated_at'])),
  sort: Type.Optional(stringEnum(['asc', 'desc'])),
  ...CustomAttributeFields,
});
export type UserFilters = Static<typeof UserFilters>;

const profileFields = {
  linkedin: text('LinkedIn account.'),
  twitter: text('Twitter or X account.'),
  discord: text('Discord user id.', 255, { ruled: { pattern: discordPattern } }),
  github: text('GitHub account.'),
  website_url: text('Address of a web site.', 255, webAddress),
  organization: text('Organization.'),
  bio: text('About the user.'),
  location: text('Where the user is.'),
  pronouns: text('Pronouns.', 50),
  public_email: text('The address that everybody sees: a confirmed one of the user.'),
  commit_email: text('The address of commits: a confirmed one of the user.'),
  theme_id: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 11 }))),
  color_scheme_id: Type.Optional(Type.Integer({ minimum: 1, maximum: 6 })),
  view_diffs_file_by_file: flag('Shows one file of a diff at a time.'),
  policy_advanced_editor: flag('Opens policies in the advanced editor.'),
};

const adminFields = {
  projects_limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  admin: flag('Whether the user is an administrator.'),
  auditor: flag('Whether the user reads everything.'),
  external: flag('Whether the user is external.'),
  can_create_group: flag('Whether the user may create top-level groups.'),
  private_profile: Type.Optional(
    nullable(Type.Boolean({ description: 'Null stands for the default of the instance.' })),
  ),
  note: text('Note for administrators.', 10_000),
  extern_uid: Type.Optional(Type.String({ maxLength: 255, description: 'Together with provider.' })),
  provider: Type.Optional(Type.String({ maxLength: 255, description: 'Together with extern_uid.' })),
  group_id_for_saml: Type.Optional(
    Type.Integer({ description: 'The top-level group whose enterprise user this is.' }),
  ),
  avatar: Type.Optional(avatarFile),
};

const Email = Type.String({ maxLength: 254, ruled: mailAddress, description: 'The primary mail address.' });
const Name = Type.String({ maxLength: 255, ...notBlank, description: 'The name shown.' });
const Username = Type.String({
  ruled: { pattern: pathPattern, maxLength: 255 },
  description: 'The name in addresses and mentions.',
});
const Password = Type.String({
  maxLength: 1_000,
  ruled: { minLength: 8, maxLength: MAX_PASSWORD_LENGTH },
  description: 'The password.',
});

export const UserChanges = Type.Object({
  email: Type.Optional(Email),
  name: Type.Optional(Name),
  username: Type.Optional(Username),
  password: Type.Optional(Password),
  skip_reconfirmation: flag('The new address counts as confirmed.'),
  ...profileFields,
  ...adminFields,
});
export type UserChanges = Static<typeof UserChanges>;

export const NewUserInput = Type.Object(
  {
    email: Email,
    name: Name,
    username: Username,
    password: Type.Optional(Password),
    reset_password: flag('The user sets a password by a link sent by mail.'),
    force_random_password: flag('The user gets a password that nobody knows.'),
    skip_confirmation: flag('The address counts as confirmed.'),
    ...profileFields,
    ...adminFields,
  },
  parameterRules(
    atLeastOne(
      ['password', 'reset_password', 'force_random_password'],
      '400 Bad request - "password" not given',
    ),
  ),
);
export type NewUserInput = Static<typeof NewUserInput>;
