/** Pushes as mails to the addresses that the properties have. */
import { html } from '../../../platform/http/pages/html.ts';
import { isWanted } from '../chat/filters.ts';
import { type ChatMessage, type ChatPayload, messageOf } from '../chat/message.ts';
import { type Delivery, type Properties, textOf } from '../kinds/description.ts';

/** Of one push. */
const MAX_RECIPIENTS = 100;

/** The addresses between blanks and commas, each once. */
export const recipientsOf = (properties: Properties): string[] =>
  [
    ...new Set(
      textOf(properties, 'recipients')
        .split(/[\s,]+/)
        .filter((address) => /^[^\s<>,;@]+@[^\s<>,;@]+$/.test(address)),
    ),
  ].slice(0, MAX_RECIPIENTS);

/** The commits with the paths that they changed. */
const listed = ({ commits = [] }: ChatPayload): string =>
  commits
    .map(({ id, title, author, added = [], modified = [], removed = [] }) =>
      [
        `${id.slice(0, 8)} ${title} - ${author.name}`,
        ...added.map((path) => `  + ${path}`),
        ...modified.map((path) => `    ${path}`),
        ...removed.map((path) => `  - ${path}`),
      ].join('\n'),
    )
    .join('\n\n');

type Prepared = { to: string; project: string; message: ChatMessage };

/** Characters of the list of commits. */
const MAX_TEXT = 100_000;

export const mailDelivery: Delivery = {
  prepare({ body }, properties) {
    const payload = body as ChatPayload;
    const message = isWanted({ branches_to_be_notified: 'all', ...properties }, payload)
      ? messageOf(payload)
      : undefined;
    if (!message) return [];
    const project = payload.project?.path_with_namespace ?? '';
    const told = { project, message: { ...message, text: listed(payload).slice(0, MAX_TEXT) } };
    return recipientsOf(properties).map((to) => ({ to, ...told }));
  },
  async send(services, prepared, _, id) {
    const { to, project, message } = prepared as Prepared;
    const { title, text, link } = message;
    await services.mailer.send({
      id,
      to,
      subject: `${project}: ${title}`,
      text: `${title}\n\n${text}\n\n${link}\n`,
      html: html`<p><a href="${link}">${title}</a></p><pre>${text}</pre>`.text,
      language: 'en',
    });
  },
};
