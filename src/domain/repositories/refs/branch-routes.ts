/** Branches (facts: Repository, files, commits, branches, tags). */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import {
  Accepted,
  accepted,
  type Context,
  type Endpoint,
  endpoint,
  found,
  noContent,
  Reply,
} from '../../../kernel/api/endpoint.ts';
import { readShown } from '../../../platform/git/history/history.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { findBranch, listRefs, peelToCommit, type Ref, type RefOrder } from '../../../platform/git/refs.ts';
import { projectUrl } from '../commits/present.ts';
import { readRepository } from '../commits/queries.ts';
import { lengthOfRecord } from '../commits/records.ts';
import { guardRefs, type RefGuard } from '../protection/protection.ts';
import {
  createBranch,
  deleteBranch,
  deleteMergedBranches,
  protectBranch,
  unprotectBranch,
} from './branch-actions.ts';
import { matchingRegex, mergedBranches } from './branch-queries.ts';
import { BranchListInput, BranchProtectionInput, BranchRecord, NewBranchInput } from './branch-schema.ts';
import { pageOfRefs } from './pages.ts';
import { presentBranch, type RefView } from './present.ts';
import { matchesSearch } from './rules.ts';

type Reading = Context<unknown, AuthorizedProject, Caller>;

/** The context in which this caller sees the project's refs, with the permissions if they are known. */
export async function refView(
  { db, services, settings, actor, subject }: Reading,
  known?: RefGuard,
): Promise<RefView> {
  const guard = known ?? (await guardRefs(db, subject, actor, settings));
  return { project: subject, url: projectUrl(services.baseUrl(), subject), guard };
}

async function presentBranches(view: RefView, git: GitFolder, refs: readonly Ref[]) {
  const main = view.project.row.default_branch;
  const head = main === null ? undefined : await findBranch(git, main);
  const merged = await mergedBranches(git, head?.oid, refs);
  return readShown(
    refs,
    async ({ name, oid }) => {
      const commit = await peelToCommit(git, oid);
      return commit && presentBranch(view, name, commit, merged.has(name));
    },
    ({ commit }) => lengthOfRecord(commit),
  );
}

/** The record of one branch; 404 without it. */
async function showBranch(
  context: Reading,
  name: string,
  guard?: RefGuard,
): Promise<Static<typeof BranchRecord>> {
  const view = await refView(context, guard);
  const records = await readRepository(context.services, context.subject, async (git) => {
    const head = await findBranch(git, name);
    return head ? presentBranches(view, git, [{ name, oid: head.oid }]) : [];
  });
  return found(records?.[0], 'Branch');
}

/** 404 without the branch. */
async function requireBranch({ services, subject }: Reading, name: string): Promise<void> {
  found(await readRepository(services, subject, (git) => findBranch(git, name)), 'Branch');
}

const orders = { name_asc: 'name', updated_asc: 'updated', updated_desc: 'updated_desc' } as const;

const path = '/projects/:id/repository/branches';
const one = Type.Object({ branch: Type.String() });

export const branchesEndpoint = endpoint({
  method: 'GET',
  path,
  summary: 'Branches of a project.',
  also: [422],
  access: onProject('read_code'),
  input: BranchListInput,
  reply: Type.Array(BranchRecord),
  handle: async (context) => {
    const { input, request, services, db } = context;
    const view = await refView(context);
    const order: RefOrder = orders[input.sort ?? 'name_asc'];
    const page = await readRepository(context.services, context.subject, async (git) => {
      const matches = matchesSearch(input.search);
      const refs = (await listRefs(git, 'branch', order)).filter(({ name }) => matches(name));
      const chosen = input.regex ? await matchingRegex(db, refs, input.regex) : refs;
      const { refs: shown, headers } = pageOfRefs(chosen, order, input, request, services);
      return new Reply(200, await presentBranches(view, git, shown), headers);
    });
    return page ?? new Reply(200, [], pageOfRefs([], order, input, request, services).headers);
  },
});

export const branchEndpoints: Endpoint[] = [
  branchesEndpoint,
  endpoint({
    method: 'GET',
    path: `${path}/:branch`,
    summary: 'One branch; HEAD only tells whether there is one.',
    also: [422],
    access: onProject('read_code'),
    input: one,
    reply: BranchRecord,
    handle: async (context) => {
      const branch = await showBranch(context, context.input.branch);
      return context.request.method === 'HEAD' ? new Reply(204) : branch;
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Create a branch.',
    also: [422],
    access: onProject('push_code'),
    input: NewBranchInput,
    reply: BranchRecord,
    handle: async (context) => {
      const guard = await createBranch(context, context.input);
      return showBranch(context, context.input.branch, guard);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:branch`,
    summary: 'Delete a branch.',
    also: [422],
    access: onProject('push_code'),
    input: one,
    reply: noContent,
    handle: async (context) => {
      await deleteBranch(context, context.input.branch, context.unmodified);
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/projects/:id/repository/merged_branches',
    summary: 'Delete all branches that are merged into the default branch.',
    also: [422],
    access: onProject('push_code'),
    status: 202,
    reply: Accepted,
    handle: async (context) => {
      await deleteMergedBranches(context, context.unmodified);
      return accepted();
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:branch/protect`,
    summary: 'Protect a branch.',
    also: [422],
    access: onProject('manage_protected_refs'),
    deprecated: { use: 'POST /projects/:id/protected_branches' },
    input: BranchProtectionInput,
    reply: BranchRecord,
    handle: async (context) => {
      const { branch, developers_can_push: push, developers_can_merge: merge } = context.input;
      await requireBranch(context, branch);
      await protectBranch(context, branch, { push, merge });
      return showBranch(context, branch);
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:branch/unprotect`,
    summary: 'End the protection of a branch.',
    also: [422],
    access: onProject('manage_protected_refs'),
    deprecated: { use: 'DELETE /projects/:id/protected_branches/:name' },
    input: one,
    reply: BranchRecord,
    handle: async (context) => {
      await requireBranch(context, context.input.branch);
      await unprotectBranch(context, context.input.branch);
      return showBranch(context, context.input.branch);
    },
  }),
];
