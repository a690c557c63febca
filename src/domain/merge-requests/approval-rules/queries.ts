/** Reads approval rules with what they name, and who may approve by them. */
import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { isSeenGroup } from '../../../kernel/access/group-list-queries.ts';
import { memberIds } from '../../../kernel/access/membership-queries.ts';
import { lockParent } from '../../../kernel/access/own-row-queries.ts';
import { isProject, type ResourceParent, reachOf } from '../../../kernel/access/resource-parents.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { GroupRow } from '../../../kernel/namespaces/rows.ts';
import { MINIMAL } from '../../../kernel/policy/roles.ts';
import { selectPeople } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { ApprovalRulesTable } from '../../../platform/db/rows.ts';
import { byId, idArray, readTagged, taggedRows } from '../../../platform/db/tagged-rows.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

/** A rule with the ids of what it names, each list in ascending order. */
export type RuleRow = Selectable<ApprovalRulesTable> & {
  user_ids: number[];
  group_ids: number[];
  branch_ids: number[];
};

/** A merge request, as far as it has rules of its own. */
export type RuledMergeRequest = {
  mergeRequestId: number;
  project: AuthorizedProject;
  /** Calls users whom a rule that asks for approvals newly names. */
  call?(tx: Db, userIds: readonly number[]): Promise<void>;
};
export type RuleOwner = ResourceParent | RuledMergeRequest;

export const isMergeRequest = (owner: RuleOwner): owner is RuledMergeRequest => 'mergeRequestId' in owner;

/** Where the members are who can be approvers. */
export const parentOf = (owner: RuleOwner): ResourceParent => (isMergeRequest(owner) ? owner.project : owner);

/** The condition on the owner's own rules. */
function ownRules(owner: RuleOwner) {
  if (isMergeRequest(owner)) return sql<SqlBool>`approval_rules.merge_request_id = ${owner.mergeRequestId}`;
  return isProject(owner)
    ? sql<SqlBool>`approval_rules.project_id = ${owner.id}`
    : sql<SqlBool>`approval_rules.namespace_id = ${owner.id}`;
}

const rules = (db: Db, owner: RuleOwner) =>
  db
    .selectFrom('approval_rules')
    .selectAll()
    .select([
      sql<number[]>`array(select user_id from approval_rule_users where rule_id = id order by user_id)`.as(
        'user_ids',
      ),
      sql<number[]>`array(select group_id from approval_rule_groups where rule_id = id order by group_id)`.as(
        'group_ids',
      ),
      sql<number[]>`array(select protected_branch_id from approval_rule_branches where rule_id = id
        order by protected_branch_id)`.as('branch_ids'),
    ])
    .where(ownRules(owner));

/** One page, oldest first. */
export const selectRules = (db: Db, owner: RuleOwner, page: PageRequest) =>
  selectPage(db, rules(db, owner), page, { by: 'id', sort: 'asc' }, { id: 'id' });

/** All of them, which are few. */
export const selectAllRules = (db: Db, parent: ResourceParent): Promise<RuleRow[]> =>
  rules(db, parent).orderBy('id').execute();

export const selectRule = (db: Db, owner: RuleOwner, id: number): Promise<RuleRow | undefined> =>
  rules(db, owner).where('id', '=', id).executeTakeFirst();

/** Serializes changes of the owner's rules: their number, and the one of any approver. */
export async function lockRules(tx: Db, owner: RuleOwner): Promise<void> {
  if (!isMergeRequest(owner)) return lockParent(tx, owner);
  await ahead(tx)
    .selectFrom('merge_requests')
    .select('id')
    .where('id', '=', owner.mergeRequestId)
    .forNoKeyUpdate()
    .execute();
}

/** The number of the rules that people made of the owner's, and whether one of them is for any approver. */
export async function countRules(tx: Db, owner: RuleOwner) {
  const { count, any } = await tx
    .selectFrom('approval_rules')
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      sql<boolean>`coalesce(bool_or(rule_type = 'any_approver'), false)`.as('any'),
    ])
    .where(ownRules(owner))
    .where('rule_type', '<>', 'code_owner')
    .executeTakeFirstOrThrow();
  return { count: Number(count), any };
}

const today = () => sql`${now().toISOString().slice(0, 10)}::date`;

/** The members of the parent among these users, inherited and invited ones too; the rest cannot be approvers. */
export async function selectMembersAmong(
  db: Db,
  parent: ResourceParent,
  ids: readonly number[],
  usernames: readonly string[],
): Promise<number[]> {
  if (ids.length + usernames.length === 0) return [];
  const names = usernames.map((name) => name.toLowerCase());
  const { rows } = await sql<{ id: number }>`
    with named as materialized (
      select id from users where (id = any(${[...ids]}::bigint[]) or lower(username) = any(${names}::text[])) and deletion is null)
    select distinct m.user_id as id from (${memberIds({ projectId: undefined, ...reachOf(parent) })}) m
    where m.user_id in (select id from named) order by 1`.execute(db);
  return rows.map(({ id }) => id);
}

/** Those groups among these that the caller sees. */
const seenGroups = (caller: Caller, ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select n.* from namespaces n
  where n.id = any(${ids}) and n.kind = 'group' and not n.deleting and ${isSeenGroup(caller)}`;

/** The groups among these that the caller sees, by id. */
export async function selectGroupsAmong(
  db: Db,
  caller: Caller,
  ids: readonly number[],
): Promise<ReadonlyMap<number, GroupRow>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<GroupRow>`${seenGroups(caller, sql`${[...ids]}::bigint[]`)}`.execute(db);
  return byId(rows);
}

/** The protected branches among these that are the project's. */
export async function selectBranchesAmong(
  db: Db,
  projectId: number,
  ids: readonly number[],
): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('protected_branches')
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', 'in', ids)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** The patterns of all protected branches of a project, by their ids. */
export async function selectProtections(db: Db, projectId: number): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('protected_branches')
    .select(['id', 'name'])
    .where('project_id', '=', projectId)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The first so many approvers of a rule that its record shows. */
const MAX_SHOWN_APPROVERS = 500;

/** What records of rules show beside the rules. */
export type NamedByRules = {
  /** Ids of the approvers of each rule, by its id. */
  approvers: ReadonlyMap<number, readonly number[]>;
  people: ReadonlyMap<number, UserBasicRow>;
  /** Those that the caller sees. */
  groups: ReadonlyMap<number, GroupRow>;
};

type TaggedGroup = Omit<GroupRow, 'created_at' | 'updated_at'> & { created_at: string; updated_at: string };

/**
 * What the rules name, by one statement. The approvers of each rule, at most so many, are its users as far as they are members,
 * and the direct members of its groups (facts: merge requests §6.3); active users alone.
 */
export async function selectNamed(
  db: Db,
  caller: Caller,
  parent: ResourceParent,
  ruleIds: readonly number[],
): Promise<NamedByRules> {
  const of = await readTagged<{
    approvers: { rule_id: number; user_ids: number[] };
    people: UserBasicRow;
    groups: TaggedGroup;
  }>(
    db,
    [
      taggedRows('approvers', sql`select * from rule_approvers`),
      taggedRows(
        'people',
        selectPeople(sql`array(select user_id from named union select unnest(user_ids) from rule_approvers)`),
      ),
      taggedRows('groups', seenGroups(caller, sql`array(select group_id from named_groups)`), {
        isDescribed: true,
      }),
    ],
    sql`
      chosen as materialized (select unnest(${idArray(ruleIds)}) as rule_id),
      named as materialized (select rule_id, user_id from approval_rule_users where rule_id in (select rule_id from chosen)),
      named_groups as materialized (
        select rule_id, group_id from approval_rule_groups where rule_id in (select rule_id from chosen)),
      present as materialized (
        select distinct m.user_id from (${memberIds({ projectId: undefined, ...reachOf(parent) })}) m
        where m.user_id in (select user_id from named)),
      rule_approvers as materialized (
        select r.rule_id, array(
          select u.id from users u where u.state = 'active' and u.deletion is null and u.id in (
            select n.user_id from named n join present p on p.user_id = n.user_id where n.rule_id = r.rule_id
            union all
            select m.user_id from named_groups g join members m on m.namespace_id = g.group_id
            where g.rule_id = r.rule_id and m.access_level > ${MINIMAL} and (m.expires_at is null or m.expires_at > ${today()}))
          order by u.id limit ${MAX_SHOWN_APPROVERS}) as user_ids
        from chosen r)`,
  );
  const groups = of('groups').map((row) => ({
    ...row,
    created_at: new Date(row.created_at),
    updated_at: new Date(row.updated_at),
  }));
  return {
    approvers: new Map(of('approvers').map(({ rule_id, user_ids }) => [rule_id, user_ids])),
    people: byId(of('people')),
    groups: byId(groups),
  };
}

export async function selectUsers(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, UserBasicRow>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<UserBasicRow>`${selectPeople(sql`${[...ids]}::bigint[]`)}`.execute(db);
  return byId(rows);
}
