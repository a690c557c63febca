/** Activity events with their targets as they are now. */
import { type RawBuilder, sql } from 'kysely';
import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Services } from '../../kernel/services.ts';
import type { UserBasicRow } from '../../kernel/users/records.ts';
import type { Json } from '../../platform/db/rows.ts';

export type EventRow = {
  id: number;
  project_id: number;
  action: string;
  target_type: string | null;
  target_id: number | null;
  details: Json | null;
  created_at: Date;
  author: UserBasicRow;
  /** The target of the event, or of its note; null for one that is deleted, or has no title. */
  target: { iid: number | null; title: string } | null;
};

export const noteTypes = ['Note', 'DiscussionNote', 'DiffNote'] as const;

export const isOnNote = ({ target_type }: Pick<EventRow, 'target_type'>): boolean =>
  noteTypes.some((type) => type === target_type);

/** The columns of an EventRow, of an event `e` that the caller sees. */
export function eventColumns(services: Pick<Services, 'registered'>): RawBuilder<unknown> {
  const shown = activityTargets
    .all(services)
    .flatMap(({ type, noteColumn, select }) => (select ? { type, noteColumn, select } : []));
  const byType = shown
    .filter(({ type }) => type !== undefined)
    .map(({ type, select }) => sql`when ${sql.lit(type)} then ${asJson(select(sql`e.target_id`))}`);
  const byNoteable = shown
    .flatMap(({ noteColumn, select }) =>
      noteColumn === undefined ? [] : { id: sql.ref(`n.${noteColumn}`), select },
    )
    .map(({ id, select }) => sql`when ${id} is not null then ${asJson(select(id))}`);
  return sql`e.id, e.project_id, e.action, e.target_type, e.target_id, e.details, e.created_at,
    (select jsonb_build_object('id', u.id, 'username', u.username, 'name', u.name, 'state', u.state, 'avatar', u.avatar,
      'public_email', u.public_email, 'locked', u.locked_at is not null, 'email', u.email)
      from users u where u.id = e.author_id) as author,
    case when e.target_type in (${sql.join(noteTypes.map(sql.lit))}) then (
      select case ${sql.join(byNoteable, sql` `)} end from notes n where n.id = e.target_id)
    else case e.target_type ${sql.join(byType, sql` `)} end end as target`;
}

const asJson = (selected: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select to_jsonb(target) from (${selected}) target)`;
