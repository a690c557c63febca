/** How the instance looks: what administrators gave it, or nothing of it. */

export type Appearance = {
  title: string;
  description: string;
  pwa_name: string;
  pwa_short_name: string;
  pwa_description: string;
  member_guidelines: string;
  new_project_guidelines: string;
  profile_image_guidelines: string;
  header_message: string;
  footer_message: string;
  message_background_color: string;
  message_font_color: string;
  email_header_and_footer_enabled: boolean;
  /** Pictures, as avatars are stored. */
  logo: string | null;
  header_logo: string | null;
  favicon: string | null;
  pwa_icon: string | null;
};

export const appearancePictures = ['logo', 'header_logo', 'favicon', 'pwa_icon'] as const;
export type AppearancePicture = (typeof appearancePictures)[number];

export const noAppearance: Appearance = {
  title: '',
  description: '',
  pwa_name: '',
  pwa_short_name: '',
  pwa_description: '',
  member_guidelines: '',
  new_project_guidelines: '',
  profile_image_guidelines: '',
  header_message: '',
  footer_message: '',
  message_background_color: '#e75e40',
  message_font_color: '#ffffff',
  email_header_and_footer_enabled: false,
  logo: null,
  header_logo: null,
  favicon: null,
  pwa_icon: null,
};
