/** The appearance as a record, with the addresses of its pictures. */
import { pictureAddress } from '../../../kernel/api/layout.ts';
import type { Appearance } from '../../../kernel/instance/appearance.ts';
import type { AppearanceRecord } from './schema.ts';

export const presentAppearance = (appearance: Appearance): AppearanceRecord => ({
  title: appearance.title,
  description: appearance.description,
  pwa_name: appearance.pwa_name,
  pwa_short_name: appearance.pwa_short_name,
  pwa_description: appearance.pwa_description,
  pwa_icon: pictureAddress(appearance, 'pwa_icon') ?? null,
  logo: pictureAddress(appearance, 'logo') ?? null,
  header_logo: pictureAddress(appearance, 'header_logo') ?? null,
  favicon: pictureAddress(appearance, 'favicon') ?? null,
  member_guidelines: appearance.member_guidelines,
  new_project_guidelines: appearance.new_project_guidelines,
  profile_image_guidelines: appearance.profile_image_guidelines,
  header_message: appearance.header_message,
  footer_message: appearance.footer_message,
  message_background_color: appearance.message_background_color,
  message_font_color: appearance.message_font_color,
  email_header_and_footer_enabled: appearance.email_header_and_footer_enabled,
});
