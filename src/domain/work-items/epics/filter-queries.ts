/** Filters of epic lists, as conditions over `epics`. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { containing } from '../../../platform/db/search.ts';
import type { ListInput } from './schema.ts';

export type Condition = RawBuilder<SqlBool>;

const not = (condition: Condition): Condition => sql`not ${condition}`;

/** The group, with descendants and ancestors as requested; over `namespaces n`. */
export function groupsInScope(
  group: AuthorizedGroup,
  scope: Pick<ListInput, 'include_descendant_groups' | 'include_ancestor_groups'>,
): Condition {
  const { include_descendant_groups: below = true, include_ancestor_groups: around = false } = scope;
  const parts = [
    below ? sql`n.ancestor_ids @> array[${group.id}]::bigint[]` : sql`n.id = ${group.id}`,
    ...(around ? [sql`n.id = any(${group.row.ancestor_ids}::bigint[])`] : []),
  ];
  return sql`(${sql.join(parts, sql` or `)})`;
}

const anyLabel: Condition = sql`exists (select from label_links k where k.epic_id = epics.id)`;
const labelNamed = (name: string): Condition => sql`exists (
  select from label_links k join labels l on l.id = k.label_id where k.epic_id = epics.id and l.name = ${name})`;

function labelled(names: readonly string[]): Condition[] {
  const [only] = names;
  if (names.length === 1 && only?.toLowerCase() === 'none') return [not(anyLabel)];
  if (names.length === 1 && only?.toLowerCase() === 'any') return [anyLabel];
  return names.map(labelNamed);
}

function reacted(caller: Caller, name: string): Condition {
  const given = sql`select from award_emoji a where a.epic_id = epics.id and a.user_id = ${caller?.id ?? 0}`;
  const word = name.toLowerCase();
  if (word === 'any') return sql`exists (${given})`;
  if (word === 'none') return sql`not exists (${given})`;
  return sql`exists (${given} and a.name = ${name})`;
}

const writtenBy = (id: number): Condition => sql`author_id = ${id}`;
const writtenByName = (name: string): Condition => sql`author_id = coalesce(
  (select u.id from users u where lower(u.username) collate "C" = ${name.toLowerCase()}), 0)`;

/** Filters that `not[…]` can negate; of several labels each is then excluded. */
function negatable(caller: Caller, input: NonNullable<ListInput['not']>): Condition[] {
  return [
    ...(input.author_id === undefined ? [] : [writtenBy(input.author_id)]),
    ...(input.author_username === undefined ? [] : [writtenByName(input.author_username)]),
    ...(input.labels ? labelled(input.labels) : []),
    ...(input.my_reaction_emoji === undefined ? [] : [reacted(caller, input.my_reaction_emoji)]),
  ];
}

function searched(text: string, places: readonly ('title' | 'description')[]): Condition {
  const pattern = containing(text);
  const parts = places.map((place) => sql<SqlBool>`${sql.ref(`epics.${place}`)} ilike ${pattern}`);
  return sql`(${sql.join(parts, sql` or `)})`;
}

const timed = (
  column: 'created_at' | 'updated_at',
  after: string | undefined,
  before: string | undefined,
): Condition[] => [
  ...(after === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} >= ${new Date(after)}`]),
  ...(before === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} <= ${new Date(before)}`]),
];

/** Filters on times of creation and last change. */
export const timeConditions = (
  input: Pick<ListInput, 'created_after' | 'created_before' | 'updated_after' | 'updated_before'>,
): Condition[] => [
  ...timed('created_at', input.created_after, input.created_before),
  ...timed('updated_at', input.updated_after, input.updated_before),
];

/** All conditions on a list's epics, beside those on their groups. */
export const epicConditions = (caller: Caller, input: ListInput): Condition[] => [
  ...negatable(caller, input),
  ...negatable(caller, input.not ?? {}).map(not),
  ...timeConditions(input),
  ...(input.state === undefined || input.state === 'all' ? [] : [sql<SqlBool>`state = ${input.state}`]),
  ...(input.confidential === undefined ? [] : [sql<SqlBool>`epics.confidential = ${input.confidential}`]),
  ...(input.iids === undefined ? [] : [sql<SqlBool>`iid = any(${input.iids}::integer[])`]),
  ...(input.iid === undefined ? [] : [sql<SqlBool>`iid = ${input.iid}`]),
  ...(input.search ? [searched(input.search, input.in?.length ? input.in : ['title', 'description'])] : []),
];

/** Whether the conditions likely match few epics: then it is faster to find all and sort. */
export const findsFew = ({
  search,
  author_id,
  author_username,
  labels,
  my_reaction_emoji,
  iids,
  iid,
}: ListInput): boolean =>
  [search, author_id, author_username, labels, my_reaction_emoji, iids, iid].some(
    (each) => each !== undefined,
  );
