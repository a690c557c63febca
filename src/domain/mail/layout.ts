/** What a mail about an account looks like: the same sentences as text and as HTML, with one link to follow. Pure. */
import { letterButton, letterPage, oneLine } from '../../core/letter-page.ts';
import { html } from '../../platform/http/html.ts';

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

const LANGUAGE = 'en';

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
  const page = letterPage({
    language: LANGUAGE,
    title: subject,
    content: html`<p>Hello ${letter.name},</p>
${letter.before.map((text) => html`<p>${text}</p>`)}
${letterButton(link.label, link.url)}
<p style="font-size: 14px">Or open this address: <a href="${link.url}" style="overflow-wrap: anywhere">${link.url}</a></p>
${letter.after.map((text) => html`<p>${text}</p>`)}`,
    footer: html`<p style="margin: 0">${footer}</p>`,
  });
  return { subject, text: `${paragraphs.join('\n\n')}\n`, html: page.text, language: LANGUAGE };
}
