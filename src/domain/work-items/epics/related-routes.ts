/**
 * Endpoints of links between epics, which relate or block (facts: Epics). Readers see a link only with both
 * epics.
 */

import { onGroup } from '../../../kernel/access/access.ts';
import { authorizeGroup } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { GUEST } from '../../../kernel/policy/roles.ts';
import { forbidden } from '../../../platform/failure.ts';
import { plainPath } from './paths.ts';
import type { Presenting } from './present.ts';
import type { LinkRow } from './queries.ts';
import { presentEpics } from './records/epic-records.ts';
import { findEpic, findEpicById } from './records/find-queries.ts';
import { selectEpicRows } from './registrations/queries.ts';
import { relate, separate } from './related-actions.ts';
import { selectRelated, selectRelation, selectRelations } from './related-queries.ts';
import {
  GroupRelations,
  type LinkType,
  OneEpic,
  OneRelation,
  RelatedEpicLinkRecord,
  RelatedEpicRecord,
  RelateInput,
} from './schema.ts';

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
  const rows = ids.length === 0 ? [] : await selectEpicRows(context.db, ids);
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
      const listed = await selectRelated(db, actor, id, page);
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
      const link = found(await selectRelation(db, epic.id, input.related_epic_link_id));
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
      const listed = await selectRelations(db, actor, subject, input, page);
      return { ...listed, items: await presentLinks(context, listed.items) };
    },
  }),
];
