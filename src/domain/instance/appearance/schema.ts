/** The appearance in requests and in responses (facts-packages: 7.1, Appearance). */
import Type, { type Static } from 'typebox';
import { file, nullable } from '../../../platform/http/parameters/schema.ts';
import { colour } from '../broadcast-messages/schema.ts';
import { pictureContentTypes } from './pictures.ts';

const text = (maxLength: number, description: string) => Type.String({ maxLength, description });
const markedText = (what: string) => text(4_000, `${what} Shown as it is.`);

const texts = {
  title: text(255, 'The name of the site.'),
  description: markedText('Beside the form that signs in.'),
  pwa_name: text(255, 'The name as an installed program; without one it is none.'),
  pwa_short_name: text(255, 'Its short name.'),
  pwa_description: text(2_048, 'What it is.'),
  member_guidelines: text(4_000, 'Kept only.'),
  new_project_guidelines: text(4_000, 'Kept only.'),
  profile_image_guidelines: text(4_000, 'Kept only.'),
  header_message: text(1_000, 'Above every page.'),
  footer_message: text(1_000, 'Below every page.'),
  message_background_color: colour({ description: 'Of both messages.' }),
  message_font_color: colour({ description: 'Of both messages.' }),
  email_header_and_footer_enabled: Type.Boolean({ description: 'Whether mails have both messages, too.' }),
};

const picture = (description: string) =>
  nullable(file({ description: `${description} At most 1 MiB.`, contentTypes: pictureContentTypes }));
const pictures = {
  logo: picture('Above the form that signs in.'),
  header_logo: picture('At the top of every page.'),
  favicon: picture('In the tabs of browsers.'),
  pwa_icon: picture('Of the installed program.'),
};

const address = nullable(Type.String({ description: 'Its path on this site.' }));

export const AppearanceRecord = Type.Object({
  ...texts,
  logo: address,
  header_logo: address,
  favicon: address,
  pwa_icon: address,
});
export type AppearanceRecord = Static<typeof AppearanceRecord>;

export const UpdateAppearance = Type.Partial(Type.Object({ ...texts, ...pictures }));
export type UpdateAppearance = Static<typeof UpdateAppearance>;
