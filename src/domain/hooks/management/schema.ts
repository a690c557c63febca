/** Webhooks in requests and responses (facts-merge-requests: 10.1). */
import Type, { type Static } from 'typebox';
import { type ParentKind, parentKinds } from '../../../kernel/access/resource-parents.ts';
import { dateTime, integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { webAddress } from '../../../platform/http/web-address.ts';
import { flagsOf, type HookFlag } from './kinds.ts';
import { branchFilterStrategies } from './rules.ts';

const MAX_URL_LENGTH = 2_048;
const MAX_TEMPLATE_LENGTH = 4_096;
const MAX_VALUE_LENGTH = 2_048;

const url = Type.String({
  maxLength: MAX_URL_LENGTH,
  ...webAddress,
  description: 'Where requests go; `{name}` stands for the value of a URL variable.',
});
const pair = Type.Object({
  key: Type.String({ maxLength: 255 }),
  value: Type.String({ maxLength: MAX_VALUE_LENGTH }),
});
const pairs = (description: string) =>
  Type.Optional(Type.Array(pair, { maxItems: 20, writeOnly: true, description }));

const fields = {
  name: Type.Optional(nullable(Type.String({ maxLength: 255 }))),
  description: Type.Optional(nullable(Type.String({ maxLength: 2_048 }))),
  token: Type.Optional(
    nullable(
      Type.String({
        maxLength: 255,
        writeOnly: true,
        description: 'Sent with each request; no record shows it.',
      }),
    ),
  ),
  enable_ssl_verification: Type.Optional(
    Type.Boolean({ description: 'Whether certificates are verified; they are unless it says no.' }),
  ),
  push_events_branch_filter: Type.Optional(
    nullable(
      Type.String({
        maxLength: 5_000,
        description: 'The branches whose pushes are told; all where it is empty.',
      }),
    ),
  ),
  branch_filter_strategy: Type.Optional(
    stringEnum(branchFilterStrategies, { description: 'How the branch filter is read.' }),
  ),
  custom_webhook_template: Type.Optional(
    nullable(
      Type.String({
        maxLength: MAX_TEMPLATE_LENGTH,
        description: 'The body, as JSON with `{{object_attributes.title}}` for values of the usual one.',
      }),
    ),
  ),
  url_variables: pairs('Values for the address, which no record shows.'),
  custom_headers: pairs('Headers of each request; no record shows their values.'),
};

const flag = Type.Optional(nullable(Type.Boolean()));
const flagFields = (parent: ParentKind): Record<string, typeof flag> =>
  Object.fromEntries(flagsOf(parent).map((name) => [name, flag]));

/** What requests may say of the hooks of one kind of parent. */
export const inputsOf = (parent: ParentKind) => ({
  create: Type.Object({ url, ...fields, ...flagFields(parent) }),
  update: Type.Object({ ...one, url: Type.Optional(url), ...fields, ...flagFields(parent) }),
});

const one = { hook_id: integerId() };
export const OneHook = Type.Object(one);

const fieldsOnly = Type.Object(fields);
export type HookChanges = { url?: string } & Static<typeof fieldsOnly> &
  Partial<Record<HookFlag, boolean | null>>;

const key = { key: Type.String({ maxLength: 255 }) };
export const OneKey = Type.Object({ ...one, ...key });
export const SetKey = Type.Object({
  ...one,
  ...key,
  value: Type.String({ maxLength: MAX_VALUE_LENGTH, writeOnly: true }),
});

const keys = Type.Optional(Type.Array(Type.Object(key)));

const record = {
  id: Type.Integer(),
  url: Type.String(),
  name: nullable(Type.String()),
  description: nullable(Type.String()),
  created_at: dateTime(),
  enable_ssl_verification: Type.Boolean(),
  alert_status: stringEnum(['executable', 'temporarily_disabled', 'disabled']),
  disabled_until: nullable(dateTime()),
  push_events_branch_filter: nullable(Type.String()),
  branch_filter_strategy: stringEnum(branchFilterStrategies),
  custom_webhook_template: nullable(Type.String()),
  // Absent in lists.
  url_variables: keys,
  custom_headers: keys,
};
const recordBase = Type.Object(record);

const owners: Record<ParentKind, object> = {
  project: { project_id: Type.Integer() },
  group: { group_id: Type.Integer() },
  instance: {},
};

/** The records of each kind of parent. */
export const recordsOf = Object.fromEntries(
  parentKinds.map((parent) => [
    parent,
    Type.Object({
      ...record,
      ...Object.fromEntries(flagsOf(parent).map((name) => [name, Type.Boolean()])),
      ...owners[parent],
    }),
  ]),
) as Record<ParentKind, typeof recordBase>;
export type HookRecord = Static<typeof recordBase> &
  Partial<Record<HookFlag, boolean>> & { project_id?: number; group_id?: number };
