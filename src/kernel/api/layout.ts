/** What stands around a page: the name of the site, its account, and what administrators tell everybody. Pure. */
import { type Html, html, htmlPage } from '../../platform/http/pages/html.ts';
import { avatarFilename } from '../files/pictures.ts';
import type { Appearance, AppearancePicture } from '../instance/appearance.ts';
import { type Broadcast, isDismissable } from '../instance/broadcasts.ts';
import { hidden } from './forms.ts';

export type PageContent = {
  title: string;
  body: Html;
  /** The reader's links, at the top. */
  account: Html;
  csrfToken?: string | undefined;
};

export type Around = {
  appearance: Appearance;
  /** Names this state of the appearance. */
  version: number;
  broadcasts: readonly Broadcast[];
  /** Where whoever puts a message away goes on. */
  here: string;
};

const DEFAULT_TITLE = 'Ashlar';
/** The stylesheet with the colours of the messages at the top and the bottom. */
export const APPEARANCE_STYLE_PATH = '/-/appearance.css';
export const MANIFEST_PATH = '/-/manifest.json';

/** The address of a picture; undefined without one. */
export function pictureAddress(appearance: Appearance, name: AppearancePicture): string | undefined {
  const stored = appearance[name];
  return stored === null
    ? undefined
    : `/uploads/-/system/appearance/${name}/1/${encodeURIComponent(avatarFilename(stored))}`;
}

const siteTitle = ({ title }: Pick<Appearance, 'title'>): string => title || DEFAULT_TITLE;

function brand(appearance: Appearance): Html {
  const logo = pictureAddress(appearance, 'header_logo');
  const title = siteTitle(appearance);
  return html`<a class="brand" href="/">${logo === undefined ? title : html`<img src="${logo}" alt="${title}" height="28">`}</a>`;
}

const broadcast = (each: Broadcast, here: string): Html =>
  html`<aside class="broadcast ${each.theme} ${each.broadcast_type}" aria-label="Message to everybody">
<p>${each.message}</p>
${isDismissable(each) && html`<form method="post" action="/-/broadcast_messages/${each.id}/dismiss">${hidden('return_to', here)}<button class="plain" aria-label="Dismiss this message">Dismiss</button></form>`}
</aside>
`;

const strip = (text: string, place: 'top' | 'bottom'): Html | undefined =>
  text === '' ? undefined : html`<p class="site-message ${place}">${text}</p>`;

/** What stands above the form of somebody who is not signed in: nothing, unless administrators gave something. */
export function welcome(appearance: Appearance): Html | undefined {
  const { title, description } = appearance;
  const logo = pictureAddress(appearance, 'logo');
  if (title === '' && description === '' && logo === undefined) return undefined;
  return html`<div class="welcome">
${logo !== undefined && html`<img src="${logo}" alt="">`}
${title !== '' && html`<p class="name">${title}</p>`}
${description !== '' && html`<p>${description}</p>`}
</div>
`;
}

/** The whole document. */
export function layOut(content: PageContent, { appearance, version, broadcasts, here }: Around): string {
  const { header_message: top, footer_message: bottom } = appearance;
  const header = html`${strip(top, 'top')}<header>${brand(appearance)}
<a href="/api/docs">API</a>
${content.account}</header>
${broadcasts.map((each) => broadcast(each, here))}`;
  return htmlPage(content.title, content.body, {
    site: siteTitle(appearance),
    header,
    footer: strip(bottom, 'bottom'),
    csrfToken: content.csrfToken,
    icon: pictureAddress(appearance, 'favicon'),
    manifest: appearance.pwa_name === '' ? undefined : MANIFEST_PATH,
    style: top === '' && bottom === '' ? undefined : `${APPEARANCE_STYLE_PATH}?v=${version}`,
  });
}
