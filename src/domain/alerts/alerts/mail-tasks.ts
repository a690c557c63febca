/** Mail about new alerts, to the project's Maintainers and Owners. */

import {
  findMailProject,
  type MailProject,
  PAGE,
  selectReaders,
} from '../../../kernel/access/maintainer-queries.ts';
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { addJobs, type NewJob, type Task, type Tasks } from '../../../platform/jobs/jobs.ts';
import { localesKnown } from '../../../platform/locales.ts';
import { issueWebUrl } from '../../work-items/index.ts';
import { alertUrl } from '../alert-records.ts';
import type { AlertRow } from '../records.ts';
import { composeAlertMail } from './mail.ts';
import { type AlertFact, selectIssueIid, selectTriggered } from './mail-queries.ts';

export const MAIL = 'alerts.mail';
const MAIL_PAGE = 'alerts.mail_page';
const MAIL_ONE = 'alerts.mail_one';

type Paged = AlertFact & { after: number };
type Addressed = AlertFact & { user_id: number };

const pageJob = (page: Paged): NewJob => ({
  task: MAIL_PAGE,
  payload: page,
  key: `${MAIL_PAGE} ${page.fact_id} ${page.after}`,
});

const oneJob = (to: Addressed): NewJob => ({
  task: MAIL_ONE,
  payload: to,
  key: `${MAIL_ONE} ${to.fact_id} ${to.user_id}`,
});

/** Adds a job for each recipient of a page, and one for the next page where there may be one. */
async function sendPage(db: Db, { project_id, alert_id, fact_id, after }: Paged): Promise<void> {
  const told = { project_id, alert_id, fact_id };
  const place = await findMailProject(db, project_id);
  if (!place || !(await selectTriggered(db, told))) return;
  const readers = await selectReaders(db, place, { after });
  const last = readers.at(-1);
  await addJobs(db, [
    ...readers.map(({ id }) => oneJob({ ...told, user_id: id })),
    ...(last && readers.length === PAGE ? [pageJob({ ...told, after: last.id })] : []),
  ]);
}

async function incidentUrl(
  db: Db,
  baseUrl: string,
  place: MailProject,
  { issue_id }: AlertRow,
): Promise<string | undefined> {
  if (issue_id === null) return undefined;
  const iid = await selectIssueIid(db, issue_id);
  return iid === undefined ? undefined : issueWebUrl(baseUrl, place.full_path, iid);
}

/** The tasks of alert mail. Each may run twice: then both mails have the same id. */
export function alertMailTasks(services: Needs<'config' | 'database' | 'instance' | 'baseUrl'>): Tasks {
  const db = services.database.background;
  const mailer = siteMailer(services);
  const mailOne: Task = async (payload) => {
    // Written by oneJob() only.
    const to = payload as Addressed;
    const place = await findMailProject(db, to.project_id);
    const alert = await selectTriggered(db, to);
    const [reader] = place && alert ? await selectReaders(db, place, { userId: to.user_id }) : [];
    if (!place || !alert || !reader) return;
    const siteUrl = services.baseUrl();
    await localesKnown();
    const mail = composeAlertMail({
      alert,
      url: alertUrl(siteUrl, place.full_path, alert.iid),
      incidentUrl: await incidentUrl(db, siteUrl, place, alert),
      project: { name: place.name, fullName: place.full_name, url: `${siteUrl}/${place.full_path}` },
      reader,
      siteUrl,
    });
    await mailer.send({ id: `alert-${to.fact_id}-${to.user_id}`, to: reader.address, ...mail });
  };
  return {
    [MAIL]: (payload) => sendPage(db, { ...(payload as AlertFact), after: 0 }),
    // Written by pageJob() only.
    [MAIL_PAGE]: (payload) => sendPage(db, payload as Paged),
    [MAIL_ONE]: mailOne,
  };
}
