/** Parameters and records of error-tracking settings and client keys (spec: Error tracking). */
import Type, { type Static } from 'typebox';
import { integerId, nullable } from '../../../platform/http/parameters/schema.ts';

const address = Type.String({ maxLength: 2_000 });
const name = Type.String({ maxLength: 255 });

export const TrackingSettings = Type.Object({
  active: Type.Boolean(),
  project_name: nullable(
    Type.String({ description: 'In the external tracker; null where errors are kept here.' }),
  ),
  tracker_external_url: nullable(Type.String({ description: 'Where people look at the external tracker.' })),
  sentry_external_url: nullable(Type.String({ description: 'The same, under its public name.' })),
  api_url: nullable(Type.String({ description: 'Where the API of the external tracker is.' })),
  integrated: Type.Boolean({ description: 'Whether errors are kept here.' }),
  keep_addresses: Type.Boolean({ description: 'Whether addresses of those who met an error are kept.' }),
});
export type TrackingSettings = Static<typeof TrackingSettings>;

export const ReplaceSettings = Type.Object({ active: Type.Boolean(), integrated: Type.Boolean() });

export const ChangeSettings = Type.Object({
  active: Type.Boolean(),
  integrated: Type.Optional(Type.Boolean()),
  keep_addresses: Type.Optional(
    Type.Boolean({ description: 'Whether addresses of those who meet an error are kept from now on.' }),
  ),
  project_name: Type.Optional(nullable(name)),
  tracker_external_url: Type.Optional(nullable(address)),
  sentry_external_url: Type.Optional(nullable(address)),
  api_url: Type.Optional(nullable(address)),
  token: Type.Optional(
    nullable(
      Type.String({
        maxLength: 1_024,
        writeOnly: true,
        description: 'What the API of the external tracker is read with; it is not shown again.',
      }),
    ),
  ),
});
export type ChangeSettings = Static<typeof ChangeSettings>;

export const ClientKey = Type.Object({
  id: Type.Integer(),
  active: Type.Boolean(),
  public_key: Type.String(),
  tracker_dsn: Type.String({ description: 'What an application is configured with.' }),
  sentry_dsn: Type.String({ description: 'The same, under its public name.' }),
});
export type ClientKey = Static<typeof ClientKey>;

const key_id = integerId();
export const OneKey = Type.Object({ key_id });
export const ChangeKey = Type.Object({ key_id, active: Type.Boolean() });
