/** Mail about new alerts, to the project's Maintainers and Owners. */
import { sql } from 'kysely';
import {
  directProjectLevel,
  memberIds,
  namespaceLevel,
  sharedProjectLevel,
} from '../../../kernel/access/memberships.ts';
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import { MAINTAINER } from '../../../kernel/policy/roles.ts';
import type { Services } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { addJobs, type NewJob, type Task, type Tasks } from '../../../platform/jobs/jobs.ts';
import { issueWebUrl } from '../../work-items/index.ts';
import { alertUrl } from './alert-records.ts';
import { composeAlertMail } from './mail.ts';
import type { AlertRow } from './records.ts';

export const MAIL = 'alerts.mail';
const MAIL_PAGE = 'alerts.mail_page';
const MAIL_ONE = 'alerts.mail_one';

/** Recipients of one page. */
const PAGE = 500;

type AlertFact = { project_id: number; alert_id: number; fact_id: number };
type Paged = AlertFact & { after: number };
type Addressed = AlertFact & { user_id: number };

type MailProject = {
  id: number;
  name: string;
  full_name: string;
  full_path: string;
  ancestor_ids: number[];
};

/** The project; undefined where it is gone, or mail is disabled for it or an ancestor. */
async function findMailProject(db: Db, id: number): Promise<MailProject | undefined> {
  const silent = (settings: string) => sql`${sql.ref(settings)} @> '{"emails_enabled": false}'`;
  const { rows } = await sql<MailProject>`
    select p.id, p.name, n.full_name || ' / ' || p.name as full_name, n.full_path || '/' || p.path as full_path,
      n.ancestor_ids
    from projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${id} and not p.deleting and not ${silent('p.settings')} and not exists (
      select from namespaces a where a.id = any(n.ancestor_ids) and ${silent('a.settings')})`.execute(db);
  return rows[0];
}

type Reader = { id: number; address: string; language: string; timezone: string | null };

/** Active Maintainers and Owners with a confirmed address: those after an id, or one of them. */
async function selectReaders(
  db: Db,
  place: MailProject,
  which: { after: number } | { userId: number },
): Promise<Reader[]> {
  const today = `'${now().toISOString().slice(0, 10)}'::date`;
  const [ids, only] =
    'userId' in which
      ? [sql`select ${which.userId}::bigint`, sql`true`]
      : [memberIds({ projectId: place.id, ancestorIds: place.ancestor_ids }), sql`u.id > ${which.after}`];
  const level = (of: (user: string, date: string) => string) => sql.raw(of('u.id', today));
  const inGroups = level((user, date) => namespaceLevel(user, date, 'contents'));
  const { rows } = await sql<Reader>`
    select u.id, coalesce(u.notification_email, u.email) as address, u.preferred_language as language, u.timezone
    from users u, projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${place.id} and u.id in (${ids}) and ${only}
      and u.kind = 'human' and u.state = 'active' and u.deletion is null and u.confirmed_at is not null
      and greatest(${level(directProjectLevel)}, ${inGroups}, ${level(sharedProjectLevel)}) >= ${MAINTAINER}
    order by u.id limit ${PAGE}`.execute(db);
  return rows;
}

/** The alert; undefined where it is no longer triggered. */
const selectTriggered = (db: Db, { alert_id, project_id }: AlertFact): Promise<AlertRow | undefined> =>
  db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', alert_id)
    .where('project_id', '=', project_id)
    .where('status', '=', 'triggered')
    .executeTakeFirst();

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
  const issue = await db.selectFrom('issues').select('iid').where('id', '=', issue_id).executeTakeFirst();
  return issue && issueWebUrl(baseUrl, place.full_path, issue.iid);
}

/** The tasks of alert mail. Each may run twice: then both mails have the same id. */
export function alertMailTasks(services: Services): Tasks {
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
