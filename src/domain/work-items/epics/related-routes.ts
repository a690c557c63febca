/**
 * Endpoints of links between epics, which relate or block (facts: Epics). Readers see a link only with both
 * epics.
 */

import type { Static } from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import { type AuthorizedGroup, authorizeGroup } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import {
  type Context,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
} from '../../../kernel/api/endpoint.ts';
import { GUEST } from '../../../kernel/policy/roles.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import { plainPath } from './paths.ts';
import type { Presenting } from './present.ts';
import type { LinkRow } from './queries.ts';
import { presentEpics } from './records/epic-records.ts';
import type { EpicRow } from './records/epic-rows.ts';
import { type FoundEpic, findEpic, withGroup } from './records/find-queries.ts';
import { seesEpic } from './records/visibility-queries.ts';
import { selectEpicRows } from './registrations/queries.ts';
import { relate, separate } from './related-actions.ts';
import { selectByNumbers, selectRelated, selectRelation, selectRelations } from './related-queries.ts';
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
  rows: readonly EpicRow[],
): Promise<RelatedEpicLinkRecord[]> {
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

type RelateContext = Pick<Context<unknown, AuthorizedGroup, Actor>, 'db' | 'services' | 'actor' | 'subject'>;

/** The epic and the other one of a new link; 404 unless the caller sees both. */
async function findBoth(
  { db, services, actor, subject }: RelateContext,
  input: Static<typeof RelateInput>,
): Promise<FoundEpic[]> {
  const { epic_iid, target_group_id, target_epic_iid } = input;
  if (String(target_group_id) === String(subject.id)) {
    const rows = await selectByNumbers(db, subject.id, [epic_iid, target_epic_iid]);
    return [epic_iid, target_epic_iid].flatMap((iid) => {
      const epic = rows.find((row) => row.iid === iid);
      return epic && seesEpic(subject, epic) ? { epic, group: subject } : [];
    });
  }
  const epic = await findEpic(db, subject, actor, epic_iid);
  const group = await authorizeGroup(services.database.points, actor, 'read_epics', target_group_id);
  return [
    { epic, group: subject },
    { epic: await findEpic(db, group, actor, target_epic_iid), group },
  ];
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
      const { link_type = 'relates_to' } = context.input;
      const [from, to] = await findBoth(context, context.input);
      if (!from || !to) throw notFound();
      if (to.group.role < GUEST) throw forbidden();
      const link = await relate(context, from, to, link_type);
      const [record] = await presentLinks(context, [link], [from.epic, to.epic]);
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
      const ends = await selectRelation(db, input.related_epic_link_id);
      const here = ends.find(
        ({ epic }) =>
          epic.namespace_id === subject.id && epic.iid === input.epic_iid && seesEpic(subject, epic),
      );
      const there = ends.find((end) => end !== here);
      if (!here || !there) throw notFound();
      const other = await withGroup(services.database.points, actor, there.epic, subject);
      unmodified(here.link.updated_at);
      await separate(context, here.link, { epic: here.epic, group: subject }, other);
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
      const ids = [...new Set(listed.items.flatMap((link) => [link.source_id, link.target_id]))];
      const rows = ids.length === 0 ? [] : await selectEpicRows(db, ids);
      return { ...listed, items: await presentLinks(context, listed.items, rows) };
    },
  }),
];
