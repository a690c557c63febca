/** Members of projects and groups: listed, shown, added, changed, removed. */
import Type from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import {
  type CallLimit,
  type Endpoint,
  endpoint,
  listing,
  noContent,
  Reply,
} from '../../../kernel/api/endpoint.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import {
  addMembers,
  failureOf,
  findNewcomers,
  importMembers,
  messageOf,
  removeMember,
  requireRole,
  requireUnlocked,
  updateMember,
} from './actions.ts';
import { presentMembers, showMember, viewOf } from './present.ts';
import { listMemberUsers, type Reach, selectMembershipLock } from './queries.ts';
import type { Grant, Problem } from './rules.ts';
import {
  ChangedMember,
  ImportOutcome,
  Member,
  memberFilters,
  memberState,
  NewMembers,
  Outcome,
} from './schema.ts';
import type { SourceKind } from './source.ts';

const deleteLimit: CallLimit = { name: 'members_delete', setting: 'members_delete_limit', periodSeconds: 60 };

/** A success when no user was left out. */
export const outcomeOf = (problems: Record<string, string>): Outcome =>
  Object.keys(problems).length === 0 ? { status: 'success' } : { status: 'error', message: problems };

/** The lists and records of members, own ones only or inherited ones too. */
const readEndpoints = <S>(kind: SourceKind<S>, reach: Reach): Endpoint[] => {
  const path = `${kind.path}/members${reach === 'all' ? '/all' : ''}`;
  const whose = reach === 'all' ? `a ${kind.noun}, inherited and invited ones included` : `a ${kind.noun}`;
  return [
    listing({
      method: 'GET',
      path,
      summary: `Members of ${whose}.`,
      access: kind.access.read,
      input: Type.Object({ ...memberFilters, state: memberState }),
      page: 'offset',
      ...(reach === 'all' && kind.listLimit && { limit: kind.listLimit }),
      item: Member,
      handle: async ({ db, subject, input, page, ...context }) => {
        const view = viewOf(context, kind.view(subject));
        const listed = await listMemberUsers(db, view.source, view.caller, reach, input, page);
        const shown = { reach, seats: input.show_seat_info };
        return { ...listed, items: await presentMembers(db, view, listed.items, shown) };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:user_id`,
      summary: `A member of ${whose}.`,
      access: kind.access.read,
      input: Type.Object({ user_id: Type.Integer() }),
      reply: Member,
      handle: ({ db, subject, input, ...context }) =>
        showMember(db, viewOf(context, kind.view(subject)), input.user_id, reach),
    }),
  ];
};

const writeEndpoints = <S>(kind: SourceKind<S>): Endpoint[] => [
  endpoint({
    method: 'POST',
    path: `${kind.path}/members`,
    summary: `Adds users to a ${kind.noun}: one, answered with the member, or several, answered with how they fared.`,
    access: kind.access.manage,
    also: [405, 409],
    input: NewMembers,
    reply: Type.Union([Member, Outcome]),
    handle: async ({ db, services, subject, input, ...context }) => {
      const view = viewOf({ services, ...context }, kind.view(subject));
      const { source } = view;
      const { access_level, expires_at = null, member_role_id = null, user_id, username } = input;
      const grant: Grant = { access_level, expires_at, member_role_id };
      const { tier } = services.config;
      const requested = user_id ?? username ?? [];
      const named = { ids: user_id ?? [], names: username ?? [] };
      const users = await findNewcomers(db, source, context.actor, grant, tier, named);
      const [user] = users;
      if (requested.length === 1 && !user) throw notFound('User');
      const newcomers = users.map((each) => ({ ...each, ...grant }));
      const problems = await inTransaction(db, async (tx) => {
        await requireRole(tx, source, grant, tier);
        return addMembers(tx, source, context.actor, newcomers);
      });
      if (requested.length === 1 && user) {
        const problem = problems.get(user.id);
        if (problem) throw failureOf(problem);
        return showMember(db, view, user.id, 'direct');
      }
      return outcomeOf(linesOf(requested, users, problems));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${kind.path}/members/:user_id`,
    summary: `Changes the access level or expiry of a member of a ${kind.noun}.`,
    access: kind.access.manage,
    input: ChangedMember,
    reply: Member,
    handle: async ({ db, services, subject, input, ...context }) => {
      const view = viewOf({ services, ...context }, kind.view(subject));
      const { user_id, ...change } = input;
      await updateMember(db, view.source, context.actor, user_id, change, services.config.tier);
      return showMember(db, view, user_id, 'direct');
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${kind.path}/members/:user_id`,
    summary: `Removes a member of a ${kind.noun}, or lets the caller leave it.`,
    access: kind.access.leave,
    limit: deleteLimit,
    input: Type.Object({
      user_id: Type.Integer(),
      skip_subresources: Type.Optional(
        Type.Boolean({ description: 'Keep the memberships of what is inside the group.' }),
      ),
    }),
    reply: noContent,
    handle: async ({ db, subject, actor, input, unmodified }) => {
      const options = { keepInside: input.skip_subresources ?? false, unmodified };
      await removeMember(db, kind.view(subject), actor, input.user_id, options);
      return new Reply<null>(204);
    },
  }),
];

/** A message for each user who was left out, unknown ones included. */
function linesOf(
  requested: readonly (string | number)[],
  users: readonly { id: number; username: string }[],
  problems: ReadonlyMap<number, Problem>,
): Record<string, string> {
  const known = new Set(users.flatMap((user) => [String(user.id), user.username.toLowerCase()]));
  const missing = requested.map(String).filter((each) => !known.has(each.toLowerCase()));
  const refused = users.flatMap((user) => {
    const problem = problems.get(user.id);
    return problem ? [[user.username, messageOf(problem)] as const] : [];
  });
  return Object.fromEntries([...missing.map((each) => [each, '404 User Not Found'] as const), ...refused]);
}

export const memberEndpoints = <S>(kind: SourceKind<S>): Endpoint[] => [
  ...readEndpoints(kind, 'direct'),
  ...readEndpoints(kind, 'all'),
  ...writeEndpoints(kind),
];

/** Copying members is for projects only. */
export const importEndpoint = (kind: SourceKind<AuthorizedProject>): Endpoint =>
  endpoint({
    method: 'POST',
    path: `${kind.path}/import_project_members/:project_id`,
    status: 200,
    summary: 'Copies the own members of another project to this one.',
    access: kind.access.manage,
    also: [405],
    input: Type.Object({ project_id: Type.Integer() }),
    reply: ImportOutcome,
    handle: async ({ db, services, subject, actor, input }) => {
      const source = kind.view(subject);
      requireUnlocked(await selectMembershipLock(db, source, services.config.tier));
      const { sql } = services.database;
      const from = await authorizeProject(sql, actor, 'read_project_members', input.project_id);
      const { total, problems } = await importMembers(db, source, actor, from);
      const outcome = outcomeOf(problems);
      return outcome.status === 'success' ? outcome : { ...outcome, total_members_count: total };
    },
  });
