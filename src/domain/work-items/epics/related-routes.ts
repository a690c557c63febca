/**
 * Endpoints of links between epics, which relate or block (facts: Epics). Readers see a link only with both
 * epics.
 */
import { type SqlBool, sql } from 'kysely';
import { onGroup } from '../../../kernel/access/access.ts';
import { authorizeGroup } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { GUEST } from '../../../kernel/policy/roles.ts';
import { now } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { conflict, Failure, forbidden } from '../../../platform/failure.ts';
import { selectPage } from '../../../platform/pagination/page.ts';
import { systemNote } from '../issues/writing/system-notes.ts';
import { type Condition, groupsInScope, timeConditions } from './list-filters.ts';
import { plainPath } from './paths.ts';
import type { Presenting } from './present.ts';
import { type FoundEpic, findEpic, findEpicById } from './records/epic-find.ts';
import { presentEpics } from './records/epic-records.ts';
import { visibleEpics } from './records/epic-visibility.ts';
import {
  GroupRelations,
  type LinkType,
  OneEpic,
  OneRelation,
  RelatedEpicLinkRecord,
  RelatedEpicRecord,
  RelateInput,
} from './schema.ts';
import { addSystemNoteOfEpic } from './writing/epic-notes.ts';
import type { ActorContext } from './writing/epic-writes.ts';

type LinkRow = {
  id: number;
  source_id: number;
  target_id: number;
  link_type: string;
  created_at: Date;
  updated_at: Date;
};

/** The type of a link, from one of its epics. */
const typeFrom = (epicId: number, link: Pick<LinkRow, 'source_id' | 'link_type'>): LinkType => {
  if (link.link_type !== 'blocks') return 'relates_to';
  return link.source_id === epicId ? 'blocks' : 'is_blocked_by';
};

/** The records of the links with both epics, which are presented as one batch. */
async function presentLinks(
  context: Presenting,
  links: readonly LinkRow[],
): Promise<RelatedEpicLinkRecord[]> {
  const ids = [...new Set(links.flatMap((link) => [link.source_id, link.target_id]))];
  const rows =
    ids.length === 0 ? [] : await context.db.selectFrom('epics').selectAll().where('id', 'in', ids).execute();
  const records = await presentEpics(context, rows, { groupId: context.subject.id });
  const byId = new Map(records.map((record) => [record.id, record]));
  return links.flatMap((link) => {
    const [source, target] = [byId.get(link.source_id), byId.get(link.target_id)];
    if (!source || !target) return [];
    return {
      id: link.id,
      created_at: link.created_at.toISOString(),
      updated_at: link.updated_at.toISOString(),
      link_type: typeFrom(link.source_id, link),
      source_epic: source,
      target_epic: target,
    };
  });
}

/** Links the epics, with system notes on both. 409 when they are linked, 422 for an epic and itself. */
async function relate(
  { db, actor }: ActorContext,
  from: FoundEpic,
  to: FoundEpic,
  type: LinkType,
): Promise<LinkRow> {
  if (from.epic.id === to.epic.id) throw new Failure('unprocessable', 'Epic cannot be related to itself');
  const [source, target] = type === 'is_blocked_by' ? [to, from] : [from, to];
  const time = now();
  return inTransaction(db, async (tx) => {
    const link = await tx
      .insertInto('related_epic_links')
      .values({
        source_id: source.epic.id,
        target_id: target.epic.id,
        link_type: type === 'relates_to' ? type : 'blocks',
        created_at: time,
        updated_at: time,
      })
      .onConflict((linked) => linked.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!link) throw conflict('Epic(s) already assigned');
    const what =
      type === 'relates_to' ? (['related', 'related'] as const) : (['blocking', 'blocked_by'] as const);
    await addSystemNoteOfEpic(tx, actor, source, target, (reference) =>
      systemNote({ what: what[0], reference }, 'epic'),
    );
    await addSystemNoteOfEpic(tx, actor, target, source, (reference) =>
      systemNote({ what: what[1], reference }, 'epic'),
    );
    return link;
  });
}

/** Removes the link, with system notes on both. */
const separate = (
  { db, actor }: ActorContext,
  link: { id: number },
  one: FoundEpic,
  other: FoundEpic,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const gone = await tx.deleteFrom('related_epic_links').where('id', '=', link.id).executeTakeFirst();
    if (gone.numDeletedRows === 0n) return;
    const told = (reference: string) => systemNote({ what: 'unrelated', reference }, 'epic');
    await addSystemNoteOfEpic(tx, actor, one, other, told);
    await addSystemNoteOfEpic(tx, actor, other, one, told);
  });

const path = `${plainPath}/:epic_iid/related_epics`;

export const relatedEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Epics that an epic is linked to and the caller sees.',
    access: onGroup('read_epics'),
    tier: 'premium',
    page: 'offset',
    input: OneEpic,
    item: RelatedEpicRecord,
    handle: async (context) => {
      const { db, actor, subject, input, page } = context;
      const { id } = await findEpic(db, subject, actor, input.epic_iid);
      const query = db
        .selectFrom('epics')
        .innerJoin('related_epic_links', (join) =>
          join.on(sql<SqlBool>`epics.id in (source_id, target_id) and epics.id <> ${id}`),
        )
        .where((where) => where.or([where('source_id', '=', id), where('target_id', '=', id)]))
        .where(visibleEpics(actor))
        .selectAll('epics')
        .select([
          'related_epic_links.id as link_id',
          'source_id',
          'link_type',
          'related_epic_links.created_at as link_created_at',
          'related_epic_links.updated_at as link_updated_at',
        ]);
      const listed = await selectPage(
        db,
        query,
        page,
        { by: 'id', sort: 'asc' },
        { id: 'related_epic_links.id' },
      );
      const records = await presentEpics(context, listed.items, { groupId: subject.id });
      const rows = new Map(listed.items.map((row) => [row.id, row]));
      const items = records.flatMap((record) => {
        const row = rows.get(record.id);
        if (!row) return [];
        return {
          ...record,
          related_epic_link_id: row.link_id,
          link_type: typeFrom(id, row),
          link_created_at: row.link_created_at.toISOString(),
          link_updated_at: row.link_updated_at.toISOString(),
        };
      });
      return { ...listed, items };
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Links an epic to another, of this group or of one that the caller is in.',
    access: onGroup('update_epics'),
    also: [409, 422],
    tier: 'premium',
    input: RelateInput,
    reply: RelatedEpicLinkRecord,
    handle: async (context) => {
      const { db, services, actor, subject, input } = context;
      const epic = await findEpic(db, subject, actor, input.epic_iid);
      const { points } = services.database;
      const group = await authorizeGroup(points, actor, 'read_epics', input.target_group_id);
      const target = await findEpic(db, group, actor, input.target_epic_iid);
      if (group.role < GUEST) throw forbidden();
      const from = { epic, group: subject };
      const link = await relate(context, from, { epic: target, group }, input.link_type ?? 'relates_to');
      const [record] = await presentLinks(context, [link]);
      return found(record);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:related_epic_link_id`,
    summary: 'Removes the link between two epics.',
    access: onGroup('update_epics'),
    tier: 'premium',
    input: OneRelation,
    reply: noContent,
    handle: async (context) => {
      const { db, services, actor, subject, input, unmodified } = context;
      const epic = await findEpic(db, subject, actor, input.epic_iid);
      const link = found(
        await db
          .selectFrom('related_epic_links')
          .selectAll()
          .where('id', '=', input.related_epic_link_id)
          .where((where) => where.or([where('source_id', '=', epic.id), where('target_id', '=', epic.id)]))
          .executeTakeFirst(),
      );
      const otherId = link.source_id === epic.id ? link.target_id : link.source_id;
      const other = await findEpicById(db, services.database.points, actor, otherId);
      unmodified(link.updated_at);
      await separate(context, link, { epic, group: subject }, other);
      return null;
    },
  }),
  listing({
    method: 'GET',
    path: '/groups/:id/related_epic_links',
    summary: 'Links of the epics of a group and the groups below it, of which the caller sees both epics.',
    access: onGroup('read_epics'),
    tier: 'premium',
    page: 'offset',
    input: GroupRelations,
    item: RelatedEpicLinkRecord,
    handle: async (context) => {
      const { db, actor, subject, input, page } = context;
      const one = (side: 'source_id' | 'target_id', condition: Condition): Condition => sql`exists (
        select from epics where epics.id = ${sql.ref(`related_epic_links.${side}`)} and ${condition})`;
      const ours: Condition = sql`namespace_id in (select n.id from namespaces n where ${groupsInScope(subject, {})})`;
      let query = db
        .selectFrom('related_epic_links')
        .selectAll()
        .where(one('source_id', visibleEpics(actor)))
        .where(one('target_id', visibleEpics(actor)))
        .where(sql<SqlBool>`(${one('source_id', ours)} or ${one('target_id', ours)})`);
      for (const condition of timeConditions(input)) query = query.where(condition);
      const listed = await selectPage(
        db,
        query,
        page,
        { by: 'id', sort: 'asc' },
        { id: 'related_epic_links.id' },
      );
      return { ...listed, items: await presentLinks(context, listed.items) };
    },
  }),
];
