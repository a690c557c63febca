/** Pushes as mails to the addresses that the properties have. */
import { Failure } from '../../../platform/failure.ts';
import { createCommitCache } from '../../../platform/git/history/commit-cache.ts';
import { readDiff } from '../../../platform/git/history/diff.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import { GitError } from '../../../platform/git/program/program.ts';
import { html } from '../../../platform/http/pages/html.ts';
import { isWanted } from '../chat/filters.ts';
import { type ChatMessage, type ChatPayload, messageOf } from '../chat/message.ts';
import { type Delivery, type DeliveryServices, type Properties, textOf } from '../kinds/description.ts';

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

type Person = { name: string; address: string };
type Prepared = {
  to: string;
  project: string;
  message: ChatMessage;
  /** Who pushed, where mails are to come from them. */
  from?: Person;
  /** What is compared, where the mail has it. */
  diff?: { projectId: number; from: string; to: string };
};

/** Characters of the list of commits, which waits once for each recipient. */
const MAX_TEXT = 20_000;

/** As far as this reads it. */
type PushPayload = ChatPayload & { project_id?: number; user_email?: string };

/** Whether the site may send in the name of an address: those of its host, or of a domain around that. */
export function mayComeFrom(address: string, host: string): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return domain === host || (domain.includes('.') && host.endsWith(`.${domain}`));
}

const senderOf = ({ user_name, user_email }: PushPayload, properties: Properties): Person | undefined =>
  properties.send_from_committer_email === true && user_email
    ? { name: user_name ?? '', address: user_email }
    : undefined;

function diffOf({ project_id, before, after }: PushPayload, properties: Properties): Prepared['diff'] {
  const isCompared = before && after && before !== NO_OBJECT && after !== NO_OBJECT;
  if (!isCompared || project_id === undefined || properties.disable_diffs === true) return undefined;
  return { projectId: project_id, from: before, to: after };
}

/** Characters of what changed. */
const MAX_DIFF = 100_000;
/** Many recipients get the same. */
const diffs = createCommitCache<string>(4);

/** In the place of what is too much, or gone by now: without it the mail goes all the same. */
const NOT_SHOWN = '(What changed cannot be shown.)\n';

const readDiffText = (
  { repositories }: DeliveryServices,
  { projectId, from, to }: NonNullable<Prepared['diff']>,
): Promise<string> =>
  diffs(`${projectId} ${from} ${to}`, async () => {
    const git = await repositories.locate({ kind: 'project', id: projectId, wiki: false }, 'read');
    if (!git) return NOT_SHOWN;
    try {
      const { files } = await readDiff(git, { from, to }, { unidiff: true });
      const text = files
        .map(({ diff, new_path: path }) => diff || `(${path}: not shown)\n`)
        .join('\n')
        .slice(0, MAX_DIFF + 1);
      return text.length > MAX_DIFF ? `${text.slice(0, MAX_DIFF)}…\n` : text;
    } catch (error) {
      if (error instanceof GitError || (error instanceof Failure && error.kind === 'unprocessable'))
        return NOT_SHOWN;
      throw error;
    }
  });

export const mailDelivery: Delivery = {
  prepare({ body }, properties) {
    const payload = body as PushPayload;
    const message = isWanted({ branches_to_be_notified: 'all', ...properties }, payload)
      ? messageOf(payload)
      : undefined;
    if (!message) return [];
    const [from, diff] = [senderOf(payload, properties), diffOf(payload, properties)];
    const told = {
      project: payload.project?.path_with_namespace ?? '',
      message: { ...message, text: listed(payload).slice(0, MAX_TEXT) },
      ...(from && { from }),
      ...(diff && { diff }),
    };
    return recipientsOf(properties).map((to) => ({ to, ...told }));
  },
  async send(services, prepared, _, id) {
    const { to, project, message, from, diff } = prepared as Prepared;
    const { title, text, link } = message;
    const changes = diff ? await readDiffText(services, diff) : '';
    const written = [text, changes].filter((part) => part !== '').join('\n\n');
    await services.mailer.send({
      id,
      to,
      ...(from && mayComeFrom(from.address, new URL(services.baseUrl()).hostname) && { from }),
      subject: `${project}: ${title}`,
      text: `${title}\n\n${written}\n\n${link}\n`,
      html: html`<p><a href="${link}">${title}</a></p><pre>${written}</pre>`.text,
      language: 'en',
    });
  },
};
