/** Pipelines that ended as mails to the addresses that the properties have. */
import { html } from '../../../platform/http/pages/html.ts';
import { isWanted } from '../chat/filters.ts';
import { type ChatMessage, type ChatPayload, messageOf } from '../chat/message.ts';
import type { Delivery, Properties } from '../kinds/description.ts';
import { recipientsOf } from './delivery.ts';

type Prepared = { to: string; project: string; commit: string; message: ChatMessage };

/** Characters of a line: those of a commit have no bound. */
const MAX_TITLE = 500;

/** The older of the two fields for branches counts where the newer is not set. */
const branchesOf = ({ branches_to_be_notified, notify_only_default_branch }: Properties) =>
  branches_to_be_notified ?? (notify_only_default_branch === false ? 'all' : 'default');

export const pipelineMailDelivery: Delivery = {
  prepare({ body }, properties): Prepared[] {
    const payload = body as ChatPayload;
    const wanted = { ...properties, branches_to_be_notified: branchesOf(properties) };
    const message = isWanted(wanted, payload) ? messageOf(payload) : undefined;
    if (!message) return [];
    const { id, title = '' } = payload.commit ?? { id: '' };
    const told = {
      project: payload.project?.path_with_namespace ?? '',
      commit: `${String(id).slice(0, 8)} ${title.slice(0, MAX_TITLE)}`.trim(),
      message,
    };
    return recipientsOf(properties).map((to) => ({ to, ...told }));
  },
  async send({ mailer }, prepared, _, id) {
    const { to, project, commit, message } = prepared as Prepared;
    const { title, text, link } = message;
    const written = [commit, text].filter((part) => part !== '').join('\n\n');
    await mailer.send({
      id,
      to,
      subject: `${project}: ${title}`,
      text: `${title}\n\n${written}\n\n${link}\n`,
      html: html`<p><a href="${link}">${title}</a></p><pre>${written}</pre>`.text,
      language: 'en',
    });
  },
};
