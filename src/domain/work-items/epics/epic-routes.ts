/** Endpoints of a group's epics (facts: Epics). */
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { OWNER } from '../../../kernel/policy/roles.ts';
import { parseQuickActions } from './commands.ts';
import { epicConditions, findsFew, groupsInScope } from './filter-queries.ts';
import { findForChange, findParent } from './find.ts';
import { listEpics } from './list-queries.ts';
import { atBothPaths, type EpicsPath } from './paths.ts';
import { presentOne, presentPage, wholePage } from './present.ts';
import { EpicRecord } from './records/epic-records.ts';
import type { EpicRow } from './records/epic-rows.ts';
import { findEpic } from './records/find-queries.ts';
import { epicGroups } from './records/visibility-queries.ts';
import { CreateInput, ListInput, OneEpic, UpdateInput } from './schema.ts';
import { type ActorContext, createEpic, deleteEpic, type Parentage, updateEpic } from './writing/actions.ts';
import type { EpicChanges } from './writing/epic-changes.ts';

/** The requested changes; a deprecated date parameter makes that date fixed. */
function changesOf(group: AuthorizedGroup, input: Omit<UpdateInput, 'epic_iid'>): EpicChanges {
  const {
    start_date,
    end_date,
    due_date = end_date,
    parent_id: _,
    created_at,
    updated_at,
    ...changes
  } = input;
  const history = group.role >= OWNER;
  return {
    ...(start_date !== undefined && {
      start_date_fixed: start_date,
      start_date_is_fixed: start_date !== null,
    }),
    ...(due_date !== undefined && { due_date_fixed: due_date, due_date_is_fixed: due_date !== null }),
    ...changes,
    ...(history && created_at !== undefined && { created_at: new Date(created_at) }),
    ...(history && updated_at !== undefined && { updated_at: new Date(updated_at) }),
  };
}

/** The requested change of the parent, if any; 0 and null remove the parent. */
async function parentageOf(
  context: ActorContext & { subject: AuthorizedGroup },
  epic: EpicRow,
  parentId: number | null | undefined,
): Promise<Parentage | undefined> {
  if (parentId === undefined || (parentId || null) === epic.parent_id) return undefined;
  const to = parentId ? await findForChange(context, parentId, context.subject) : null;
  return { from: await findParent(context, epic, context.subject), to };
}

const endpointsAt = (path: EpicsPath) => ({
  list: listing({
    method: 'GET',
    path,
    summary: 'Epics of a group and the groups below it, newest first.',
    access: onGroup('read_epics'),
    tier: 'premium',
    page: 'offset',
    input: ListInput,
    item: EpicRecord,
    handle: async (context) => {
      const { db, actor, subject, input, page } = context;
      const query = {
        groups: epicGroups(actor, groupsInScope(subject, input)),
        conditions: epicConditions(actor, input),
        few: findsFew(input),
        by: input.order_by ?? 'created_at',
        sort: input.sort ?? 'desc',
      };
      const listed = await listEpics(db, query, page.kind === 'offset' ? page : wholePage);
      return presentPage(context, listed, { withLabelsDetails: input.with_labels_details });
    },
  }),
  create: endpoint({
    method: 'POST',
    path,
    summary: 'Makes an epic in a group.',
    access: onGroup('create_epics'),
    also: [409],
    tier: 'premium',
    limit: { name: 'issues_create', setting: 'issues_create_limit', periodSeconds: 60 },
    input: CreateInput,
    reply: EpicRecord,
    handle: async (context) => {
      const { subject, input } = context;
      const parent = input.parent_id ? await findForChange(context, input.parent_id, subject) : undefined;
      const sent = { ...changesOf(subject, input), title: input.title };
      const { changes, effects } = await parseQuickActions(context, subject, undefined, sent);
      return presentOne(context, await createEpic(context, subject, changes, { parent, effects }));
    },
  }),
  one: endpoint({
    method: 'GET',
    path: `${path}/:epic_iid`,
    summary: 'One epic.',
    access: onGroup('read_epics'),
    tier: 'premium',
    input: OneEpic,
    reply: EpicRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      return presentOne(context, await findEpic(db, subject, actor, input.epic_iid));
    },
  }),
  update: endpoint({
    method: 'PUT',
    path: `${path}/:epic_iid`,
    summary: 'Changes an epic; what is not sent stays as it is.',
    access: onGroup('update_epics'),
    also: [409],
    tier: 'premium',
    input: UpdateInput,
    reply: EpicRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { epic_iid, ...sent } = input;
      const epic = await findEpic(db, subject, actor, epic_iid);
      const parentage = await parentageOf(context, epic, sent.parent_id);
      const { changes, effects } = await parseQuickActions(context, subject, epic, changesOf(subject, sent));
      return presentOne(context, await updateEpic(context, subject, epic, changes, { parentage, effects }));
    },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: `${path}/:epic_iid`,
    summary: 'Deletes an epic; its issues and child epics stay.',
    access: onGroup('delete_epics'),
    tier: 'premium',
    input: OneEpic,
    reply: noContent,
    handle: async (context) => {
      const { db, actor, subject, input, unmodified } = context;
      const epic = await findEpic(db, subject, actor, input.epic_iid);
      await deleteEpic(context, subject, epic, unmodified);
      return null;
    },
  }),
});

export const epicEndpoints = atBothPaths(endpointsAt);
