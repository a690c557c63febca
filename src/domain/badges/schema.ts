/** Parameters and records of badges (facts: Remaining operations). */
import Type, { type Static } from 'typebox';
import { integerId, nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import { webAddress } from '../../platform/http/web-address.ts';

const address = (description: string) => Type.String({ maxLength: 2048, ...webAddress, description });
const link_url = address('The page behind the badge; placeholders such as `%{project_path}` are replaced.');
const image_url = address('The picture; placeholders as in `link_url`.');
const name = Type.Optional(nullable(Type.String({ maxLength: 255 })));

export const ListInput = Type.Object({
  name: Type.Optional(Type.String({ description: 'Only badges of exactly this name.' })),
});
export const RenderInput = Type.Object({ link_url, image_url });
export const CreateInput = Type.Object({ link_url, image_url, name });
export type CreateInput = Static<typeof CreateInput>;

const one = { badge_id: integerId() };
export const OneInput = Type.Object(one);
export const UpdateInput = Type.Object({
  ...one,
  link_url: Type.Optional(link_url),
  image_url: Type.Optional(image_url),
  name,
});
export type BadgeChanges = Partial<CreateInput>;

/** A badge that is not kept. */
export const BadgePreview = Type.Object({
  name: nullable(Type.String()),
  link_url: Type.String(),
  image_url: Type.String(),
  rendered_link_url: Type.String(),
  rendered_image_url: Type.String(),
});
export type BadgePreview = Static<typeof BadgePreview>;

export const BadgeRecord = Type.Object({
  ...BadgePreview.properties,
  id: Type.Integer(),
  kind: stringEnum(['project', 'group']),
});
export type BadgeRecord = Static<typeof BadgeRecord>;
