/** Endpoints of child epics (facts: Epics). Users who may change the parent order and remove its children. */
import Type from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import { findParent } from './find.ts';
import { atBothPaths, type EpicsPath } from './paths.ts';
import { presentOne, presentPage, wholePage } from './present.ts';
import { selectChildren } from './queries.ts';
import { EpicRecord } from './records/epic-records.ts';
import type { EpicRow } from './records/epic-rows.ts';
import { type FoundEpic, findEpic, findEpicAnd } from './records/find-queries.ts';
import { CreateChild, MoveChild, OneChild, OneEpic } from './schema.ts';
import { type ActorContext, createEpic, setParent } from './writing/actions.ts';
import { moveChild } from './writing/tree-actions.ts';

type ChildContext = ActorContext & {
  subject: AuthorizedGroup;
  input: { epic_iid: number; child_epic_id: number };
};

/** The epic and its child; 404 unless the actor may read both. */
async function findChild(context: ChildContext): Promise<{ epic: EpicRow; child: FoundEpic }> {
  const { epic_iid, child_epic_id } = context.input;
  const { epic, other: child } = await findEpicAnd(context, epic_iid, child_epic_id);
  if (child.epic.parent_id !== epic.id) throw notFound();
  return { epic, child };
}

const endpointsAt = (path: EpicsPath) => {
  const children = `${path}/:epic_iid/epics` as const;
  const child = `${children}/:child_epic_id` as const;
  return {
    list: listing({
      method: 'GET',
      path: children,
      summary: 'Child epics of an epic, in their order.',
      access: onGroup('read_epics'),
      tier: 'premium',
      page: 'offset',
      input: OneEpic,
      item: EpicRecord,
      handle: async (context) => {
        const { db, actor, subject, input, page } = context;
        const parent = await findEpic(db, subject, actor, input.epic_iid);
        return presentPage(context, await selectChildren(db, actor, parent.id, page));
      },
    }),
    create: endpoint({
      method: 'POST',
      path: children,
      summary: 'Makes a child epic in the group of an epic; it is confidential where that is.',
      access: onGroup('create_epics'),
      also: [409],
      tier: 'premium',
      limit: { name: 'issues_create', setting: 'issues_create_limit', periodSeconds: 60 },
      input: CreateChild,
      reply: EpicRecord,
      handle: async (context) => {
        const { db, actor, subject, input } = context;
        const { epic_iid, ...sent } = input;
        const epic = await findEpic(db, subject, actor, epic_iid);
        const fresh = { confidential: epic.confidential, ...sent };
        return presentOne(
          context,
          await createEpic(context, subject, fresh, { parent: { epic, group: subject } }),
        );
      },
    }),
    add: endpoint({
      method: 'POST',
      path: child,
      summary: 'Puts an epic, of this or another group, below an epic.',
      access: onGroup('update_epics'),
      also: [409],
      tier: 'premium',
      input: OneChild,
      reply: EpicRecord,
      handle: async (context) => {
        const { subject, input } = context;
        const { epic, other: child } = await findEpicAnd(context, input.epic_iid, input.child_epic_id);
        if (!child.group.may('update_epics')) throw forbidden();
        const from = await findParent(context, child.epic, subject);
        const parentage = { from, to: { epic, group: subject } };
        return presentOne(context, await setParent(context, child, parentage));
      },
    }),
    move: endpoint({
      method: 'PUT',
      path: child,
      summary: 'Moves a child epic among the others; the answer is the first hundred of them.',
      access: onGroup('update_epics'),
      also: [409],
      tier: 'premium',
      input: MoveChild,
      reply: Type.Array(EpicRecord),
      handle: async (context) => {
        const { db, actor, input } = context;
        const { epic, child } = await findChild(context);
        await inTransaction(db, (tx) => moveChild(tx, epic.id, child.epic.id, input));
        const page = await selectChildren(db, actor, epic.id, wholePage);
        return (await presentPage(context, page)).items;
      },
    }),
    remove: endpoint({
      method: 'DELETE',
      path: child,
      summary: 'Takes a child epic from its parent; it stays an epic.',
      access: onGroup('update_epics'),
      tier: 'premium',
      input: OneChild,
      reply: noContent,
      handle: async (context) => {
        const { subject, unmodified } = context;
        const { epic, child } = await findChild(context);
        unmodified(child.epic.updated_at);
        await setParent(context, child, { from: { epic, group: subject }, to: null });
        return null;
      },
    }),
  };
};

export const childEpicEndpoints = atBothPaths(endpointsAt);
