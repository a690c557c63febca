/** Changes the status of errors, and makes issues of them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict } from '../../../platform/failure.ts';
import type { WriteContext } from '../../conversation/index.ts';
import { isReadByAnybody } from '../../spam/index.ts';
import { type CreatedIssue, checkIssueSpam, created, insertIssue } from '../../work-items/index.ts';
import { type ErrorRow, selectError } from './queries.ts';
import type { ErrorStatus } from './schema.ts';

const auditError = (
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  error: Pick<ErrorRow, 'id' | 'name' | 'status'>,
  status: ErrorStatus,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: { type: 'Project', id: project.id, path: project.fullPath },
      event: 'error_tracking_error_updated',
      details: {
        change: 'status',
        from: error.status,
        to: status,
        target_id: error.id,
        target_type: 'ErrorTracking::Error',
        target_details: error.name,
      },
    },
  });

/** Resolves, ignores or reopens an error of the project; 404 without it. */
export const changeStatus = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  id: number,
  status: ErrorStatus,
): Promise<ErrorRow> =>
  inTransaction(db, async (tx) => {
    const locked = tx.selectFrom('errors').select('id').where('id', '=', id);
    await locked.where('project_id', '=', project.id).forUpdate().execute();
    const before = found(await selectError(tx, project, id), 'Error');
    if (before.status === status) return before;
    const time = now();
    const changes = { status, resolved_at: status === 'resolved' ? time : null, updated_at: time };
    await ahead(tx).updateTable('errors').set(changes).where('id', '=', id).execute();
    await auditError(tx, actor, project, before, status);
    return { ...before, ...changes };
  });

const MAX_TITLE_LENGTH = 255;

/** Text of an application as a code block, so that its mentions and quick actions have no effect. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** Title, on one line, and description of an error's issue. */
export function issueText(
  error: Pick<ErrorRow, 'name' | 'description' | 'actor' | 'first_seen_at' | 'events_count'>,
  address: string,
): { title: string; description: string } {
  const said = [error.name, error.description].filter((part) => part.trim() !== '').join(': ');
  const line = said.replaceAll(/\s+/g, ' ').trim() || 'Error';
  const title = [...line].slice(0, MAX_TITLE_LENGTH).join('');
  const where = error.actor === '' ? '' : `\n\nWhere:\n\n${fenced(error.actor)}`;
  return {
    title,
    description: `[Error](${address}), first seen ${error.first_seen_at.toISOString()}, ${error.events_count} events so far.\n\n${fenced(said)}${where}\n`,
  };
}

/**
 * Makes an issue of the error, once: 409 when it has one, 404 without the error. Where issues are public it
 * is confidential by default, because errors are for members.
 */
export async function makeIssue(
  context: WriteContext,
  project: AuthorizedProject,
  error: ErrorRow,
  address: string,
  confidential = isReadByAnybody(project, 'read_issues'),
): Promise<CreatedIssue> {
  const { db, actor, request } = context;
  const text = issueText(error, address);
  await checkIssueSpam(context, project, { write: 'create', ...text, confidential });
  const userAgent = request.headers['user-agent'];
  return inTransaction(db, async (tx) => {
    const locked = await tx
      .selectFrom('errors')
      .select('issue_id')
      .where('id', '=', error.id)
      .forUpdate()
      .executeTakeFirst();
    if (found(locked, 'Error').issue_id !== null) throw conflict('The error has an issue already');
    const time = now();
    const prepared = {
      ...text,
      iid: null,
      authorId: actor.id,
      issueType: 'issue',
      severity: 'UNKNOWN',
      confidential,
      discussionLocked: null,
      milestoneId: null,
      startDate: null,
      dueDate: null,
      weight: null,
      healthStatus: null,
      timeEstimate: 0,
      userAgent: typeof userAgent === 'string' ? userAgent : null,
      address: request.address,
      createdAt: time,
      assigneeIds: [],
      labelIds: [],
      epicId: null,
      todos: [],
    };
    const inserted = await insertIssue(tx, { actor, project, issue: prepared });
    await ahead(tx)
      .updateTable('errors')
      .set({ issue_id: inserted.issue.id, updated_at: time })
      .where('id', '=', error.id)
      .execute();
    return created(project, inserted, { prepared, labels: [] });
  });
}
