/** Integrations in requests and responses, made of the table. */
import { isDeepStrictEqual } from 'node:util';
import Type, { type Static, type TSchema } from 'typebox';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { integrations, slugs } from '../descriptions/descriptions.ts';

export const OneIntegration = Type.Object({
  slug: stringEnum(slugs, { description: 'The name of the integration in addresses.' }),
});

const flag = Type.Optional(nullable(Type.Boolean({ description: 'Whether it is told of these events.' })));

type Keywords = Readonly<Record<string, unknown>>;

/** The schema of a field that several integrations have: what all of them say, and what each says it is for. */
function together(uses: readonly { slug: string; schema: TSchema }[]): TSchema {
  const [first, ...others] = uses.map(({ schema }) => schema as Keywords);
  const common = Object.entries(first ?? {}).filter(([key, value]) =>
    others.every((other) => isDeepStrictEqual(other[key], value)),
  );
  const meanings = Map.groupBy(uses, ({ schema }) => (schema as Keywords).description);
  const description = [...meanings].map(
    ([meaning, of]) => `${of.map(({ slug }) => `\`${slug}\``).join(', ')}: ${meaning}`,
  );
  return Type.Unsafe({ ...Object.fromEntries(common), description: description.join(' ') });
}

function allFields(): Record<string, TSchema> {
  const uses = [...integrations.values()].flatMap(({ slug, fields }) =>
    Object.entries(fields).map(([name, { schema }]) => ({ name, slug, schema })),
  );
  const byName = [...Map.groupBy(uses, ({ name }) => name)];
  return Object.fromEntries(byName.map(([name, of]) => [name, Type.Optional(nullable(together(of)))]));
}

const allFlags = new Set([...integrations.values()].flatMap(({ events }) => events));

/** What a PUT may say: the fields of the integration that it sets; those of others mean nothing. */
export const SetIntegration = Type.Object({
  ...OneIntegration.properties,
  ...allFields(),
  ...Object.fromEntries([...allFlags].map((name) => [name, flag])),
  active: Type.Optional(
    nullable(Type.Boolean({ description: '`jira`: false sets it and leaves it turned off.' })),
  ),
  use_inherited_settings: Type.Optional(
    Type.Boolean({ description: 'Gives up its own settings for those of the nearest group that has some.' }),
  ),
});

/** All flags that records have, also those that no integration is told by. */
export const shownFlags = [
  'commit_events',
  'push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'tag_push_events',
  'note_events',
  'confidential_note_events',
  'wiki_page_events',
  'alert_events',
  'incident_events',
  'vulnerability_events',
  'deployment_events',
  'pipeline_events',
  'job_events',
  'comment_on_event_enabled',
] as const;

const base = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  slug: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
  active: Type.Boolean(),
  inherited: Type.Boolean({ description: 'Whether it is that of a group around.' }),
});

export const IntegrationRecord = Type.Object({
  ...base.properties,
  ...Object.fromEntries(shownFlags.map((name) => [name, Type.Boolean()])),
});
export const WholeIntegration = Type.Object({
  ...IntegrationRecord.properties,
  properties: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The values of its fields, without those that are secret.',
  }),
});
export type IntegrationRecord = Static<typeof base>;
export type WholeIntegration = IntegrationRecord & { properties: Record<string, unknown> };
