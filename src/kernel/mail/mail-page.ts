/** The layout of HTML mails. Pure. Styles are inline, since many mail clients read no others. */
import { type Html, html } from '../../platform/http/pages/html.ts';

/** A line of medium brightness: the mail client decides the background. */
export const LINE = '#8a94a6';

/** The document, of a readable width, with a smaller footer. */
export const mailPage = (mail: { language: string; title: string; content: Html; footer: Html }): Html =>
  html`<!doctype html>
<html lang="${mail.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${mail.title}</title>
<style>
a { color: #1f5fbf }
@media (prefers-color-scheme: dark) { a { color: #8ab8ff } }
</style>
</head>
<body style="margin: 0; padding: 24px 16px; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word">
<div style="max-width: 38em; margin: 0 auto">
${mail.content}
<div style="margin: 32px 0 0; padding: 16px 0 0; border-top: 1px solid ${LINE}; font-size: 14px">
${mail.footer}
</div>
</div>
</body>
</html>
`;

/** The button of the mail. */
export const mailButton = (label: string, url: string): Html =>
  html`<p style="margin: 24px 0"><a href="${url}" style="display: inline-block; padding: 10px 18px; border-radius: 6px; background: #1f5fbf; color: #ffffff; font-weight: 600; text-decoration: none">${label}</a></p>`;

/** Text on one line: it cannot start a paragraph, control a terminal, or reverse the text around it. */
export const oneLine = (text: string): string =>
  text.replaceAll(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
