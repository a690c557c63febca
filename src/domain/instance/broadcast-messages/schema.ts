/** Broadcast messages in requests and in responses (facts-packages: 7.1, Broadcast messages). */
import Type, { type Static } from 'typebox';
import { broadcastThemes, broadcastTypes } from '../../../kernel/instance/broadcasts.ts';
import { DEVELOPER, GUEST, MAINTAINER, OWNER, REPORTER } from '../../../kernel/policy/roles.ts';
import {
  commaList,
  dateTime,
  integerId,
  nullable,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';

export const BroadcastRecord = Type.Object({
  id: Type.Integer(),
  message: Type.String(),
  starts_at: Type.String(),
  ends_at: Type.String(),
  color: Type.String({ deprecated: true, description: 'Kept only: the theme has colours.' }),
  font: Type.String({ deprecated: true, description: 'Kept only.' }),
  target_access_levels: Type.Array(Type.Integer()),
  target_path: nullable(Type.String()),
  broadcast_type: stringEnum(broadcastTypes),
  theme: stringEnum(broadcastThemes),
  dismissable: Type.Boolean(),
  active: Type.Boolean({ description: 'Whether it is shown now.' }),
});
export type BroadcastRecord = Static<typeof BroadcastRecord>;

const HEX_COLOUR = '^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$';
/** A colour as CSS writes it, which is all that it can be. */
export const colour = (options: { deprecated?: true; description?: string } = {}) =>
  Type.String({ ...options, pattern: HEX_COLOUR });

const message = Type.String({
  minLength: 1,
  maxLength: 4_000,
  description: 'Shown as it is; git shows banners to whoever pushes.',
});
const optional = {
  starts_at: Type.Optional(dateTime({ description: 'Now by default.' })),
  ends_at: Type.Optional(dateTime({ description: 'An hour from now by default.' })),
  color: Type.Optional(colour({ deprecated: true })),
  font: Type.Optional(colour({ deprecated: true })),
  target_access_levels: Type.Optional(
    commaList(Type.Integer({ enum: [GUEST, REPORTER, DEVELOPER, MAINTAINER, OWNER] }), {
      maxItems: 20,
      description: 'For members of these levels alone, on pages of the project or group, and when they push.',
    }),
  ),
  target_path: Type.Optional(
    nullable(
      Type.String({
        maxLength: 255,
        description: 'For pages of these paths alone, with a slash at the start; `*` is anything.',
      }),
    ),
  ),
  broadcast_type: Type.Optional(stringEnum(broadcastTypes)),
  dismissable: Type.Optional(Type.Boolean()),
  theme: Type.Optional(stringEnum(broadcastThemes)),
};
const id = integerId({ description: 'The id of a broadcast message.' });

export const OneBroadcast = Type.Object({ id });
export const CreateBroadcast = Type.Object({ message, ...optional });
export type CreateBroadcast = Static<typeof CreateBroadcast>;
export const UpdateBroadcast = Type.Object({ id, message: Type.Optional(message), ...optional });
export type BroadcastChanges = Omit<Static<typeof UpdateBroadcast>, 'id'>;
