/** Tells who asked for an export that it is over. */
import { mailButton, mailPage, oneLine } from '../../../kernel/mail/mail-page.ts';
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import { createCatalog } from '../../../kernel/mail/texts.ts';
import type { Needs } from '../../../kernel/services.ts';
import { html } from '../../../platform/http/pages/html.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { localesKnown } from '../../../platform/locales.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };
import { selectExport, selectGroups, selectProject, selectReader } from './queries.ts';

const textsFor = createCatalog({ en: english, de: german });

export function exportMailTask(services: Needs<'baseUrl' | 'config' | 'database' | 'instance'>): Task {
  const db = services.database.background;
  const mailer = siteMailer(services);
  return async ({ export_id }) => {
    const row = await selectExport(db, Number(export_id));
    if (!row || row.user_id === null) return;
    const kind = row.project_id === null ? 'groups' : 'projects';
    const id = row.project_id ?? row.namespace_id ?? 0;
    const [place] = kind === 'projects' ? [await selectProject(db, id)] : await selectGroups(db, id);
    const reader = await selectReader(db, row.user_id);
    if (!place || !reader) return;
    await localesKnown();
    const texts = textsFor(reader.language);
    const name = oneLine(place.full_path);
    const isFinished = row.status === 'finished';
    const subject = texts.say(isFinished ? 'finished' : 'failed', { name });
    const sentence = isFinished ? texts.say('ready') : texts.say('error', { error: row.error ?? '' });
    const url = `${services.baseUrl()}/api/v4/${kind}/${id}/export/download`;
    const why = texts.say('why');
    await mailer.send({
      id: `export-${row.id}`,
      to: reader.address,
      subject,
      language: texts.language,
      text: [sentence, ...(isFinished ? [url] : []), `-- \n${why}`].join('\n\n'),
      html: mailPage({
        language: texts.language,
        title: subject,
        content: html`<p>${sentence}</p>${isFinished ? mailButton(texts.say('button'), url) : ''}`,
        footer: html`<p>${why}</p>`,
      }).text,
    });
  };
}
