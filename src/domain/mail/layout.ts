/** What every mail looks like: the same sentences as text and as HTML, with one link to follow. Pure. */
import { type Html, html } from '../../platform/http/html.ts';

export type Letter = {
  subject: string;
  /** Whom it greets. */
  name: string;
  /** Paragraphs before the link. */
  before: readonly string[];
  link: { label: string; url: string };
  /** Paragraphs after the link. */
  after: readonly string[];
};

/** Only here are styles inside elements: mail programs read no others. */
const page = (letter: Letter, footer: string): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${letter.subject}</title>
</head>
<body style="margin: 0; padding: 24px; font: 16px/1.5 system-ui, sans-serif">
<div style="max-width: 36em; margin: 0 auto">
<p>Hello ${letter.name},</p>
${letter.before.map((text) => html`<p>${text}</p>`)}
<p><a href="${letter.link.url}" style="display: inline-block; padding: 10px 18px; border-radius: 6px; background: #1f5fbf; color: #ffffff; font-weight: 600; text-decoration: none">${letter.link.label}</a></p>
<p style="font-size: 14px">Or open this address: <a href="${letter.link.url}" style="overflow-wrap: anywhere">${letter.link.url}</a></p>
${letter.after.map((text) => html`<p>${text}</p>`)}
<p style="font-size: 14px; opacity: 0.75">${footer}</p>
</div>
</body>
</html>
`;

/** One line: a name cannot begin a paragraph of its own. */
const oneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ');

/** The parts of a mail from the site at `baseUrl`. */
export function writeLetter(
  letter: Letter,
  baseUrl: string,
): { subject: string; text: string; html: string; language: string } {
  const { subject, link } = letter;
  const footer = `Sent by Ashlar at ${baseUrl}`;
  const paragraphs = [
    `Hello ${oneLine(letter.name)},`,
    ...letter.before.map(oneLine),
    `${link.label}:\n${link.url}`,
    ...letter.after.map(oneLine),
    `-- \n${footer}`,
  ];
  return { subject, text: `${paragraphs.join('\n\n')}\n`, html: page(letter, footer).text, language: 'en' };
}
