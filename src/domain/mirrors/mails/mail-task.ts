/** Mail about mirrors that fail, to the project's Maintainers and Owners: once for each series of failures. */
import { findMailProject, selectReaders } from '../../../kernel/access/maintainer-queries.ts';
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { shownUrl } from '../credentials.ts';
import { selectMirror } from '../queries.ts';
import { composeMirrorMail } from './mail.ts';

export const MAIL = 'mirrors.mail';

/** After `mirror_failed`; where it runs twice, both mails have the same id. */
export function mirrorMailTask(services: Needs<'baseUrl' | 'config' | 'database' | 'instance'>): Task {
  const db = services.database.background;
  const mailer = siteMailer(services);
  return async (payload) => {
    // Written by finishRun() only.
    const { project_id, mirror_id, fact_id } = payload as Record<
      'project_id' | 'mirror_id' | 'fact_id',
      number
    >;
    const place = await findMailProject(db, project_id);
    const row = await selectMirror(db, mirror_id);
    if (!place || !row?.enabled || row.failures === 0) return;
    const siteUrl = services.baseUrl();
    // The first so many: a project has few.
    for (const reader of await selectReaders(db, place, { after: 0 }))
      await mailer.send({
        id: `mirror-${fact_id}-${reader.id}`,
        to: reader.address,
        ...composeMirrorMail({
          kind: row.kind === 'pull' ? 'pull' : 'push',
          address: shownUrl(row),
          reason: row.last_error ?? '',
          project: { name: place.name, fullName: place.full_name, url: `${siteUrl}/${place.full_path}` },
          language: reader.language,
          siteUrl,
        }),
      });
  };
}
