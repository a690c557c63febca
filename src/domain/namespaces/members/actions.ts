/** Members are added, changed and removed here: each in one transaction, announced with the change. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import {
  joinMembers,
  type MembershipSource,
  memberFact,
  membershipSourceOf,
} from '../../../kernel/access/membership-actions.ts';
import { ownsAlone } from '../../../kernel/access/remaining-queries.ts';
import { type Announcement, announce, announceAll } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { levelName, MAINTAINER, OWNER } from '../../../kernel/policy/roles.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict, Failure, forbidden, invalid } from '../../../platform/failure.ts';
import { selectAssignable } from '../member-roles/queries.ts';
import { removeLapsed } from './expiry-actions.ts';
import {
  belowGroup,
  listCandidates,
  lockAwaiting,
  lockMember,
  type PeopleNamed,
  selectNewcomers,
  today,
} from './queries.ts';
import {
  additionProblem,
  alreadyMember,
  type Candidate,
  type Grant,
  grantProblem,
  holderProblem,
  inheritanceProblem,
  type Problem,
  prolongationProblem,
  removalProblem,
  updateProblem,
} from './rules.ts';
import type { Source } from './source.ts';

/** The response to a request about one user only, which is refused. */
export function failureOf(problem: Problem): Failure {
  if (problem.kind === 'forbidden') return forbidden(problem.text);
  if (problem.kind === 'taken') return conflict(problem.text);
  return invalid({ [problem.property]: [problem.text] });
}

/** The message about one of several users. */
export const messageOf = (problem: Problem): string => {
  if (problem.kind === 'taken') return 'User already exists in source';
  if (problem.kind === 'forbidden') return problem.text;
  return problem.property === 'access_level' ? `Access level ${problem.text}` : problem.text;
};

export const check = (problem: Problem | undefined): void => {
  if (problem) throw failureOf(problem);
};

/** A candidate with the name for announcements. */
type NewMember = Candidate & { name: string; expires_at: string | null; member_role_id?: number | null };

/** 405 where a group above keeps its projects' memberships as they are. */
export function requireUnlocked(locked: boolean): void {
  if (locked) throw new Failure('method_not_allowed', '405 Method Not Allowed');
}

/** The users whom the request names, when the caller may give the grant to any user here; 400, 403 or 405 otherwise. */
export async function findNewcomers(
  db: Db,
  source: Source,
  actor: Actor,
  grant: Grant,
  tier: string,
  named: PeopleNamed,
) {
  check(grantProblem(source, grant, { tier, today: today() }));
  const { locked, users } = await selectNewcomers(db, source, actor, tier, named);
  requireUnlocked(locked);
  return users;
}

/**
 * 400 for a custom role that is not there or adds to another level, 403 below Ultimate, and for others than owners: with a role they
 * would give what they do not have. Its row is held until the transaction ends.
 */
export async function requireRole(
  tx: Db,
  source: Source,
  { access_level, member_role_id }: Grant,
  tier: string,
): Promise<void> {
  if (member_role_id === undefined || member_role_id === null) return;
  if (tier !== 'ultimate' || source.role < OWNER) throw forbidden();
  const role = await selectAssignable(tx, source.rootGroupId, member_role_id);
  if (!role) throw invalid({ member_role_id: ['is no role that members may have here'] });
  if (role.base_access_level !== access_level)
    throw invalid({ member_role_id: ["the role's base access level does not match the access level"] });
}

/** Adds those who can be added, in the caller's transaction; returns the problem of each of the others. */
export async function addMembers(
  tx: Db,
  source: Source,
  actor: Actor,
  newcomers: readonly NewMember[],
): Promise<Map<number, Problem>> {
  const problems = new Map<number, Problem>();
  for (const each of newcomers) {
    const problem = additionProblem(source, each);
    if (problem) problems.set(each.id, problem);
  }
  const admitted = newcomers
    .filter((each) => !problems.has(each.id))
    .map(({ id, name, access_level, expires_at, member_role_id = null }) => ({
      user_id: id,
      name,
      access_level,
      expires_at,
      member_role_id,
      created_by_id: actor.id,
    }));
  const joined = await joinMembers(tx, source, actor, admitted);
  const members = admitted.filter(({ user_id }) => !joined.has(user_id));
  const lapsed = await removeLapsed(
    tx,
    source,
    members.map(({ user_id }) => user_id),
  );
  const rejoined = await joinMembers(
    tx,
    source,
    actor,
    members.filter(({ user_id }) => lapsed.has(user_id)),
  );
  for (const { user_id } of members) if (!rejoined.has(user_id)) problems.set(user_id, alreadyMember);
  return problems;
}

const isLastOwner = async (
  tx: Db,
  source: Source,
  { access_level, user_id }: { access_level: number; user_id: number },
): Promise<boolean> =>
  source.kind === 'group' && access_level === OWNER && (await ownsAlone(tx, user_id, source.id));

/** Changes a membership; an expiry that is undefined stays as it is. 403, 404 or 400 when it is refused. */
export async function updateMember(
  db: Db,
  source: Source,
  actor: Actor,
  userId: number,
  change: { access_level: number; expires_at?: string | null; member_role_id?: number | null },
  tier: string,
): Promise<void> {
  check(holderProblem(source, userId));
  await inTransaction(db, async (tx) => {
    const member = found(await lockMember(tx, source, userId));
    const { expires_at = member.expires_at } = change;
    const isSameLevel = change.access_level === member.access_level;
    // A custom role goes with its level.
    const { member_role_id = isSameLevel ? member.member_role_id : null } = change;
    const grant = { access_level: change.access_level, expires_at, member_role_id };
    check(grantProblem(source, grant, { tier, today: today() }));
    const lastOwner = await isLastOwner(tx, source, member);
    check(updateProblem({ ...member, role: source.role }, grant, lastOwner));
    check(inheritanceProblem(grant.access_level, member.inherited));
    check(prolongationProblem(source.role, member, grant));
    if (member_role_id !== member.member_role_id) await requireRole(tx, source, grant, tier);
    else if (isSameLevel && expires_at === member.expires_at) return;
    const updated_at = now();
    await ahead(tx)
      .updateTable('members')
      .set({ ...grant, updated_at })
      .where('id', '=', member.id)
      .execute();
    await announce(tx, {
      author: actor,
      audit: {
        entity: source.entity,
        event: 'member_updated',
        details: {
          change: 'access_level',
          from: levelName(member.access_level),
          to: levelName(grant.access_level),
          expiry_from: member.expires_at,
          expiry_to: expires_at,
          ...(member_role_id !== member.member_role_id && {
            member_role_from: member.member_role_id,
            member_role_to: member_role_id,
          }),
          target_id: userId,
          target_type: 'User',
          target_details: member.user_name,
        },
      },
      fact: memberFact('member_updated', source, { ...member, ...grant, updated_at }),
    });
  });
}

/**
 * Ends a membership: the caller's own, or another's that the caller manages. With a group's, the memberships
 * inside it end too, unless they are to be kept.
 */
export async function removeMember(
  db: Db,
  source: Source,
  actor: Actor,
  userId: number,
  options: { keepInside: boolean; unmodified(updatedAt: Date): void },
): Promise<void> {
  const self = userId === actor.id;
  if (!self && !source.mayManage) throw forbidden();
  check(holderProblem(source, userId));
  await inTransaction(db, async (tx) => {
    const active = await lockMember(tx, source, userId);
    const member = active ?? found(await lockAwaiting(tx, source, userId));
    const lastOwner = await isLastOwner(tx, source, member);
    check(removalProblem({ ...member, role: source.role }, self, lastOwner));
    options.unmodified(member.updated_at);
    await ahead(tx)
      .deleteFrom(active ? 'members' : 'awaiting_members')
      .where('id', '=', member.id)
      .execute();
    await announce(tx, removal(actor, source, member));
    if (source.kind === 'group' && !options.keepInside) await removeInside(tx, source, actor, member);
  });
}

type RemovedMember = Parameters<typeof memberFact>[2] & { user_name: string };

const removal = (actor: Actor, source: MembershipSource, member: RemovedMember): Announcement => ({
  author: actor,
  audit: {
    entity: source.entity,
    event: 'member_destroyed',
    details: {
      remove: 'user_access',
      target_id: member.user_id,
      target_type: 'User',
      target_details: member.user_name,
    },
  },
  ...(source.column === 'project_id' && {
    activity: { action: 'left', projectId: source.id, authorId: member.user_id },
  }),
  fact: memberFact('member_destroyed', source, member),
});

type InsideMember = Omit<RemovedMember, 'user_id' | 'user_name'> & Parameters<typeof membershipSourceOf>[0];

/** Ends the user's memberships of the groups and projects inside the group. */
async function removeInside(
  tx: Db,
  group: Source,
  actor: Actor,
  user: { user_id: number; user_name: string },
): Promise<void> {
  await sql`
    delete from awaiting_members a where a.user_id = ${user.user_id} and ${belowGroup('a', group.id)}`.execute(
    ahead(tx),
  );
  const { rows } = await sql<InsideMember>`
    with inside as (
      select m.id, m.project_id, n.id as namespace_id, concat_ws('/', n.full_path, p.path) as full_path, m.access_level,
        m.expires_at, m.created_at, m.updated_at
      from members m left join projects p on p.id = m.project_id
      join namespaces n on n.id = coalesce(m.namespace_id, p.namespace_id)
      where m.user_id = ${user.user_id} and n.ancestor_ids @> array[${group.id}]::bigint[]),
    gone as (delete from members where id in (select id from inside))
    select * from inside order by id`.execute(tx);
  await announceAll(
    tx,
    rows.map((row) => removal(actor, membershipSourceOf(row), { ...row, ...user })),
  );
}

/**
 * The user, when the caller may end all memberships below a top-level group: they are locked, and none is above the caller, the bot's of
 * a token, or the last owner's. Their number and last change; undefined without any.
 */
export async function lockBelow(
  tx: Db,
  source: Source,
  userId: number,
): Promise<{ name: string; count: number; updatedAt: Date } | undefined> {
  const { rows } = await sql<{
    access_level: number;
    is_own: boolean;
    updated_at: Date;
    user_name: string;
    user_kind: string;
  }>`
    select m.access_level, coalesce(m.namespace_id = ${source.id}, false) as is_own, m.updated_at, u.name as user_name, u.kind as user_kind
    from members m join users u on u.id = m.user_id
    where m.user_id = ${userId} and ${belowGroup('m', source.id)} order by m.id for update of m`.execute(tx);
  const [first] = rows;
  if (!first) return undefined;
  const owns = rows.some(({ is_own, access_level }) => is_own && access_level === OWNER);
  const lastOwner = owns && (await ownsAlone(tx, userId, source.id));
  const access_level = Math.max(...rows.map((row) => row.access_level));
  check(removalProblem({ ...first, access_level, role: source.role }, false, lastOwner));
  const updatedAt = new Date(Math.max(...rows.map(({ updated_at }) => updated_at.getTime())));
  return { name: first.user_name, count: rows.length, updatedAt };
}

/** Ends all memberships of a user in a top-level group and below it; 404 without any. */
export const removeBelow = (
  db: Db,
  source: Source,
  actor: Actor,
  userId: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const user = found(await lockBelow(tx, source, userId), 'User');
    unmodified(user.updatedAt);
    await removeInside(tx, source, actor, { user_id: userId, user_name: user.name });
  });

const IMPORT_BATCH = 200;

/**
 * Copies the own members of one project to another, with their levels; only an owner brings owners. Members
 * already there are passed over. Returns their number, and the users whom a rule kept out.
 */
export async function importMembers(
  db: Db,
  source: Source,
  actor: Actor,
  from: AuthorizedProject,
): Promise<{ total: number; problems: Record<string, string> }> {
  const most = source.role >= OWNER ? OWNER : MAINTAINER;
  const problems: Record<string, string> = {};
  let total = 0;
  let after = 0;
  // Ends with the members: each batch starts behind the last user of the one before.
  for (;;) {
    const candidates = await listCandidates(db, source, from.id, after, IMPORT_BATCH);
    const last = candidates.at(-1);
    if (!last) return { total, problems };
    after = last.id;
    total += candidates.length;
    const newcomers = candidates.map((each) => ({
      ...each,
      access_level: Math.min(each.access_level, most),
    }));
    const refused = await inTransaction(db, (tx) => addMembers(tx, source, actor, newcomers));
    for (const { id, username } of candidates) {
      const problem = refused.get(id);
      if (problem && problem.kind !== 'taken') problems[username] = messageOf(problem);
    }
    if (candidates.length < IMPORT_BATCH) return { total, problems };
  }
}
