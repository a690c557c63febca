/** The appearance for administrators, and what browsers load of it. */
import { onInstance } from '../../../kernel/access/access.ts';
import { avatarResponse } from '../../../kernel/api/avatar-response.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { fileRoute } from '../../../kernel/api/file-route.ts';
import { APPEARANCE_STYLE_PATH, MANIFEST_PATH, pictureAddress } from '../../../kernel/api/layout.ts';
import { appearancePictures } from '../../../kernel/instance/appearance.ts';
import type { Needs } from '../../../kernel/services.ts';
import { notFound } from '../../../platform/failure.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { changeAppearance } from './actions.ts';
import { pictureChange } from './pictures.ts';
import { presentAppearance } from './present.ts';
import { selectAppearance } from './queries.ts';
import { AppearanceRecord, UpdateAppearance } from './schema.ts';

/** Four pictures and the fields around them, in bytes. */
const bodyLimit = 5 * 1_048_576;

export const appearanceEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/application/appearance',
    summary: 'How this instance looks.',
    access: onInstance,
    reply: AppearanceRecord,
    handle: async ({ db }) => presentAppearance(await selectAppearance(db)),
  }),
  endpoint({
    method: 'PUT',
    path: '/application/appearance',
    summary: 'Changes how this instance looks; what is not sent stays as it is.',
    access: onInstance,
    input: UpdateAppearance,
    bodyLimit,
    reply: AppearanceRecord,
    handle: async ({ services, db, actor, input }) => {
      const change = {
        ...input,
        logo: pictureChange(services, 'logo', input.logo),
        header_logo: pictureChange(services, 'header_logo', input.header_logo),
        favicon: pictureChange(services, 'favicon', input.favicon),
        pwa_icon: pictureChange(services, 'pwa_icon', input.pwa_icon),
      };
      return presentAppearance(await changeAppearance(services, db, actor, change));
    },
  }),
];

/** The pictures, the colours of the messages, and the description for programs that install pages. */
export const appearanceRoutes = (
  services: Needs<'blobs' | 'instance' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Route[] => [
  fileRoute(services, {
    path: '/uploads/-/system/appearance/:kind/1/:filename',
    open: true,
    async handle({ params: { kind, filename } }) {
      const name = appearancePictures.find((each) => each === kind);
      if (name === undefined) throw notFound();
      const { appearance } = await services.instance.read();
      return avatarResponse(services, appearance[name], filename);
    },
  }),
  fileRoute(services, {
    path: APPEARANCE_STYLE_PATH,
    open: true,
    async handle() {
      const { message_background_color: paper, message_font_color: ink } = (await services.instance.read())
        .appearance;
      return {
        status: 200,
        headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=3600' },
        // Colours are nothing but hexadecimal digits.
        body: `.site-message { background: ${paper}; color: ${ink}; }\n`,
      };
    },
  }),
  fileRoute(services, {
    path: MANIFEST_PATH,
    open: true,
    async handle() {
      const { appearance } = await services.instance.read();
      if (appearance.pwa_name === '') throw notFound();
      const icon = pictureAddress(appearance, 'pwa_icon');
      return {
        status: 200,
        headers: { 'content-type': 'application/manifest+json', 'cache-control': 'public, max-age=300' },
        body: JSON.stringify({
          name: appearance.pwa_name,
          short_name: appearance.pwa_short_name || appearance.pwa_name,
          description: appearance.pwa_description,
          start_url: '/',
          display: 'browser',
          icons: icon === undefined ? [] : [{ src: icon, sizes: 'any' }],
        }),
      };
    },
  }),
];
