/** Templates in requests and in responses (facts-packages: 7.1, Templates). */
import Type, { type Static } from 'typebox';
import { nullable } from '../../platform/http/parameters/schema.ts';

export const TemplateName = Type.Object({ key: Type.String(), name: Type.String() });
export const Template = Type.Object({ name: Type.String(), content: Type.String() });

const words = Type.Array(Type.String());
export const License = Type.Object({
  key: Type.String(),
  name: Type.String(),
  nickname: nullable(Type.String()),
  popular: Type.Boolean(),
  html_url: Type.String(),
  source_url: Type.String(),
  description: Type.String(),
  conditions: words,
  permissions: words,
  limitations: words,
  content: Type.String(),
});
export type License = Static<typeof License>;
export type LicenseSource = Omit<License, 'html_url'>;

export const OneTemplate = Type.Object({ name: Type.String({ maxLength: 255 }) });
export const ListLicenses = Type.Object({
  popular: Type.Optional(Type.Boolean({ description: 'Only those that many use.' })),
});
const filling = {
  project: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'The name of the program, for the text of a license.' }),
  ),
  fullname: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'Who has the rights; the caller by default.' }),
  ),
};
export const OneLicense = Type.Object({ name: Type.String({ maxLength: 255 }), ...filling });
export type OneLicense = Static<typeof OneLicense>;
