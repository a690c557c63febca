/** Links between issues: two relate, or one blocks the other. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { announcementParts } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { now } from '../../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../../platform/db/database.ts';
import type { IssueLinksTable } from '../../../../platform/db/rows.ts';
import { runAsOne } from '../../../../platform/db/run-as-one.ts';
import { conflict, forbidden, invalid } from '../../../../platform/failure.ts';
import { insertSystemNotes, type WriteContext } from '../../../conversation/index.ts';
import { systemNote } from '../../changes/system-notes.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { requireManagement } from '../writing/issue-rights.ts';
import { issueReference } from '../writing/resolve-references.ts';
import { issueAnnouncement } from '../writing/work-events.ts';

export const linkTypes = ['relates_to', 'blocks', 'is_blocked_by'] as const;
export type LinkType = (typeof linkTypes)[number];

export type IssueLinkRow = Selectable<IssueLinksTable>;

/** An issue with the project in which it was found. */
export type IssueInProject = { issue: IssueRow; project: AuthorizedProject };

const noteActions = { relates_to: 'related', blocks: 'blocking', is_blocked_by: 'blocked_by' } as const;
const otherWay = { relates_to: 'relates_to', blocks: 'is_blocked_by', is_blocked_by: 'blocks' } as const;

/** The type of the link from the side of one of its issues. */
export function typeSeenFrom(link: Pick<IssueLinkRow, 'link_type' | 'source_id'>, issueId: number): LinkType {
  if (link.link_type === 'relates_to') return 'relates_to';
  return link.source_id === issueId ? 'blocks' : 'is_blocked_by';
}

/**
 * Links the issues; a link of another type between them becomes this one. 403 unless the actor manages the
 * issues of both projects, as both get a system note, and for blocking below premium; 400 for an issue and
 * itself; 409 where this link exists.
 */
export async function linkIssues(
  { db, services, actor }: Pick<WriteContext, 'db' | 'services' | 'actor'>,
  from: IssueInProject,
  to: IssueInProject,
  type: LinkType,
): Promise<IssueLinkRow> {
  requireManagement(from.project);
  requireManagement(to.project);
  if (type !== 'relates_to' && services.config.tier === 'free') throw forbidden();
  if (from.issue.id === to.issue.id) throw invalid({ target: ['cannot be the issue itself'] });
  const [source, target] = type === 'is_blocked_by' ? [to, from] : [from, to];
  const link_type = type === 'relates_to' ? 'relates_to' : 'blocks';
  return inTransaction(db, async (tx) => {
    const time = now();
    const {
      rows: [row],
    } = await sql<IssueLinkRow>`
      insert into issue_links as l (source_id, target_id, link_type, created_at, updated_at)
      values (${source.issue.id}, ${target.issue.id}, ${link_type}, ${time}, ${time})
      on conflict (least(source_id, target_id), greatest(source_id, target_id)) do update
        set source_id = excluded.source_id, target_id = excluded.target_id, link_type = excluded.link_type,
          updated_at = excluded.updated_at
        where l.link_type <> excluded.link_type or (l.link_type = 'blocks' and l.source_id <> excluded.source_id)
      returning *`.execute(tx);
    if (!row) throw conflict('Issue(s) already assigned');
    await addNotesToBoth(tx, actor, from, to, type);
    return row;
  });
}

async function addNotesToBoth(
  tx: Db,
  actor: Actor,
  from: IssueInProject,
  to: IssueInProject,
  type: LinkType | 'none',
) {
  const sides = [
    { here: from, there: to, what: type === 'none' ? 'unrelated' : noteActions[type] },
    { here: to, there: from, what: type === 'none' ? 'unrelated' : noteActions[otherWay[type]] },
  ] as const;
  const statements = sides.map(({ here, there, what }) => {
    const reference = issueReference(here.project, there.project, there.issue);
    const note = systemNote({ what, reference });
    return insertSystemNotes(tx, issueNoteable(here.project, here.issue), actor, [note]);
  });
  const payload = { changes: { link: { type, other_issue_id: to.issue.id } } };
  const announcement = issueAnnouncement(actor, from.project, from.issue, 'issue_updated', payload);
  await runAsOne(tx, { statements, parts: announcementParts([announcement]) });
}

/** Removes the link. */
export function unlinkIssues(
  db: Db,
  actor: Actor,
  link: IssueLinkRow,
  from: IssueInProject,
  to: IssueInProject,
): Promise<void> {
  return inTransaction(db, async (tx) => {
    const gone = await tx.deleteFrom('issue_links').where('id', '=', link.id).executeTakeFirst();
    if (gone.numDeletedRows > 0n) await addNotesToBoth(tx, actor, from, to, 'none');
  });
}
