/** The settings of a group's dependency proxy in requests and responses. */
import Type, { type Static } from 'typebox';
import { nullable } from '../../../platform/http/parameters/schema.ts';

const MAX_LENGTH = 255;

const settings = {
  enabled: Type.Boolean({ description: 'Whether images are pulled by the proxy of the group.' }),
  identity: nullable(
    Type.String({
      maxLength: MAX_LENGTH,
      description: 'Who the group is at the registry behind; empty for nobody.',
    }),
  ),
  image_ttl_enabled: Type.Boolean({
    description: 'Whether what is not pulled for image_ttl days is removed.',
  }),
  image_ttl: Type.Integer({ minimum: 1, maximum: 32_767, description: 'In days.' }),
};

export const ProxySettings = Type.Object(settings);
export type ProxySettings = Static<typeof ProxySettings>;

export const ProxySettingsUpdate = Type.Object({
  ...Type.Partial(ProxySettings).properties,
  secret: Type.Optional(
    Type.String({
      maxLength: MAX_LENGTH,
      writeOnly: true,
      description: 'The password or token of identity, which comes with each change of it.',
    }),
  ),
});
export type ProxySettingsUpdate = Static<typeof ProxySettingsUpdate>;
