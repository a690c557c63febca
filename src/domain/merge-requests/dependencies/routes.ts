/** Dependencies of merge requests: those that must be merged first. */
import { onProject } from '../../../kernel/access/access.ts';
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import {
  type Context,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
} from '../../../kernel/api/endpoint.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import { requireUpdate } from '../changes/change-rights.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest, selectMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { createBlock, deleteBlock } from './actions.ts';
import { presentBlock, presentBlocks } from './present.ts';
import { selectBlock, selectBlocks, selectNumbered, selectSeen, selectShownBlock } from './queries.ts';
import { CreateBlock, DependencyRecord, OneBlock } from './schema.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid';

const listOf = (word: 'blocks' | 'blockees', summary: string): Endpoint =>
  listing({
    method: 'GET',
    path: `${path}/${word}`,
    summary,
    tier: 'premium',
    access: onProject('read_merge_requests'),
    page: 'offset',
    input: OneMergeRequest,
    item: DependencyRecord,
    handle: async (context) => {
      const { db, actor, subject, input, page } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const rows = await selectBlocks(db, word === 'blocks' ? 'blocked_id' : 'blocking_id', row, page);
      const ids = rows.items.flatMap(({ blocking_id, blocked_id }) => [blocking_id, blocked_id]);
      const seen = await selectSeen(db, actor, [...new Set(ids)]);
      return { ...rows, items: await presentBlocks(context, rows.items, seen) };
    },
  });

type Finding = Pick<Context<unknown, AuthorizedProject, Actor>, 'db' | 'services' | 'actor' | 'subject'>;

/** The merge request of this id: one that the actor does not see is 404, as a missing one is. */
async function findById({ db, services, actor }: Finding, id: number): Promise<MergeRequestRow> {
  const row = found(await selectMergeRequest(db, id));
  await authorizeProject(services.database.points, actor, 'read_merge_requests', row.project_id).catch(
    (error) => {
      throw error instanceof Failure && error.kind !== 'unavailable' ? notFound() : error;
    },
  );
  return row;
}

/** The blocked merge request and the one that is to block it; 404 unless the actor sees both. */
async function findBoth(
  context: Finding,
  input: CreateBlock,
): Promise<Record<'blocked' | 'blocking', MergeRequestRow>> {
  const { db, services, actor, subject } = context;
  const { merge_request_iid, blocking_merge_request_id: id, blocking_project_id } = input;
  const { blocking_merge_request_iid: iid = 0 } = input;
  if (id === undefined && blocking_project_id === undefined) {
    const rows = await selectNumbered(db, subject, [merge_request_iid, iid]);
    const numbered = (number: number) => found(rows.find((row) => row.iid === number));
    const blocked = numbered(merge_request_iid);
    requireUpdate(subject, actor, blocked);
    return { blocked, blocking: numbered(iid) };
  }
  const blocked = await findMergeRequest(db, subject, merge_request_iid);
  requireUpdate(subject, actor, blocked);
  if (id !== undefined) return { blocked, blocking: await findById(context, id) };
  const { points } = services.database;
  const project = await authorizeProject(points, actor, 'read_merge_requests', blocking_project_id ?? '');
  return { blocked, blocking: await findMergeRequest(db, project, iid) };
}

export const dependencyEndpoints: Endpoint[] = [
  listOf('blocks', 'Dependencies of a merge request: what must be merged before it.'),
  listOf('blockees', 'Dependencies on a merge request: what can be merged only after it.'),
  endpoint({
    method: 'POST',
    path: `${path}/blocks`,
    summary: 'Lets a merge request wait for another: developers and its author may.',
    tier: 'premium',
    access: onProject('create_merge_requests'),
    also: [409, 422],
    input: CreateBlock,
    reply: DependencyRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { blocked, blocking } = await findBoth(context, input);
      const block = await createBlock(db, actor, subject, blocking, blocked);
      return presentBlock(context, block, [blocked, blocking]);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/blocks/:block_id`,
    summary: 'One dependency of a merge request.',
    tier: 'premium',
    access: onProject('read_merge_requests'),
    input: OneBlock,
    reply: DependencyRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { merge_request_iid, block_id } = input;
      const { block, seen } = found(await selectShownBlock(db, actor, subject, merge_request_iid, block_id));
      return presentBlock(context, block, seen);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/blocks/:block_id`,
    summary: 'Removes a dependency of a merge request: developers and its author may.',
    tier: 'premium',
    access: onProject('create_merge_requests'),
    input: OneBlock,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      requireUpdate(subject, actor, row);
      const block = found(await selectBlock(db, row, input.block_id));
      unmodified(block.created_at);
      await deleteBlock(db, actor, subject, block, row.id);
      return null;
    },
  }),
];
