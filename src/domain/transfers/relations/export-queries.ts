/** Writes the lines of a relation: one statement for a page of them, each with all that is inside it. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Attribute, Relation } from './relation.ts';

/** Whose relations they are. */
export type Owner = { column: 'project_id' | 'namespace_id'; id: number };

/** System notes about records elsewhere say where that is: whoever gets the archive may not read it. */
const namesElsewhere = (row: string): string => `
  ${row}.system_action is not null and (
    ${row}.body ~ '[[:alnum:]_.-]/[[:alnum:]_.-]'
    or ${row}.mentioned_in_project_id is distinct from ${row}.project_id and ${row}.mentioned_in_project_id is not null
    or ${row}.mentioned_in_epic_id is not null or ${row}.mentioned_in_snippet_id is not null
    or exists (select from issues i where i.id = ${row}.mentioned_in_issue_id and i.project_id is distinct from ${row}.project_id)
    or exists (select from merge_requests m
      where m.id = ${row}.mentioned_in_merge_request_id and m.project_id is distinct from ${row}.project_id))`;

const conditions: Readonly<Record<string, (row: string) => string>> = {
  notes: (row) => `not (${namesElsewhere(row)})`,
  // Issues of other projects are not in the archive.
  closing: (row) => `exists (select from issues i join merge_requests m on m.id = ${row}.merge_request_id
    where i.id = ${row}.issue_id and i.project_id = m.project_id)`,
  // Those of people, groups and keys mean nothing elsewhere.
  grants: (row) => `${row}.access_level is not null`,
};

const nameOfUser = (id: string): string =>
  `(select json_build_object('name', u.name, 'username', u.username) from users u where u.id = ${id})`;

/** A job of a pipeline without what it ran, its log and its artifacts. */
const jobOf = `json_build_object(
  'type', case j.kind when 'bridge' then 'Ci::Bridge' when 'status' then 'GenericCommitStatus' else 'Ci::Build' end,
  'name', j.name, 'status', j.status, 'target_url', j.target_url, 'description', j.description,
  'allow_failure', j.allow_failure, 'user_id', j.user_id, 'retried', j.retried, 'protected', j.protected,
  'failure_reason', j.failure_reason, 'started_at', j.started_at, 'finished_at', j.finished_at,
  'queued_at', j.queued_at, 'created_at', j.created_at, 'updated_at', j.updated_at)`;

/** What is computed, by its name: SQL over the row. */
const computed: Readonly<Record<string, (row: string) => string>> = {
  author: (row) => nameOfUser(`${row}.author_id`),
  system: (row) => `${row}.system_action is not null`,
  target_project: (row) => `${row}.project_id`,
  source_project: (row) =>
    `case when ${row}.source_project_id = ${row}.project_id then ${row}.project_id end`,
  commits: (
    row,
  ) => `(select coalesce(json_agg(json_build_object('sha', c.sha, 'relative_order', c.place) order by c.place), '[]')
    from merge_request_commits c where c.merge_request_id = ${row}.merge_request_id)`,
  stages: (
    row,
  ) => `(select coalesce(json_agg(json_build_object('name', s.stage, 'position', s.stage_index, 'statuses', s.jobs)
    order by s.stage_index), '[]') from (
      select j.stage, j.stage_index, json_agg(${jobOf} order by j.id) as jobs
      from ci_jobs j where j.pipeline_id = ${row}.id group by j.stage, j.stage_index) s)`,
  bundle: (row) => `lpad(to_hex(${row}.id), 16, '0')`,
};

function valueIn({ kind, column }: Attribute, row: string): string {
  const own = `${row}.${column}`;
  switch (kind.of) {
    case 'computed':
      return (computed[kind.as] ?? (() => 'null'))(row);
    case 'member':
      return `(select json_build_object('id', u.id, 'username', u.username, 'public_email', u.public_email)
        from users u where u.id = ${own})`;
    case 'label':
      return `(select json_build_object('title', l.name, 'color', l.color, 'description', l.description,
        'type', case when l.project_id is null then 'GroupLabel' else 'ProjectLabel' end) from labels l where l.id = ${own})`;
    case 'milestone':
      return `(select json_build_object('title', m.title, 'iid', m.iid, 'description', m.description, 'state', m.state,
        'start_date', m.start_date, 'due_date', m.due_date, 'created_at', m.created_at) from milestones m where m.id = ${own})`;
    case 'issue':
      return `(select json_build_object('iid', i.iid) from issues i where i.id = ${own})`;
    // By its number alone, one of another project or group would be another one.
    case 'merge_request':
      return `(select json_build_object('iid', m.iid) from merge_requests m
        where m.id = ${own} and m.project_id = ${row}.project_id)`;
    case 'epic':
      return `(select json_build_object('iid', e.iid) from epics e
        where e.id = ${own} and e.namespace_id = ${row}.namespace_id)`;
    default:
      return own;
  }
}

/** The JSON of a row, and of what is inside it. A function takes a hundred arguments at most. */
function lineOf(relation: Relation, row: string): string {
  const own = relation.attributes.map((each) => `'${each.name}', ${valueIn(each, row)}`);
  const inside = (relation.children ?? [])
    .filter(({ readOnly }) => !readOnly)
    .map((child) => `'${child.name}', ${listOf(child, row)}`);
  return `json_build_object(${[...own, ...inside].join(', ')})`;
}

function conditionOf(relation: Relation, row: string): string {
  const own = Object.entries(relation.constants ?? {}).map(([name, value]) => `${row}.${name} = '${value}'`);
  const other = relation.without === undefined ? undefined : conditions[relation.without]?.(row);
  return [...own, ...(other ? [other] : [])].map((each) => ` and ${each}`).join('');
}

function listOf(child: Relation, around: string): string {
  const row = `${around}x`;
  const order = `${row}.${child.order ?? 'id'}`;
  const from = `from ${child.table} ${row} where ${row}.${child.parent} = ${around}.id${conditionOf(child, row)}`;
  return child.single
    ? `(select ${lineOf(child, row)} ${from} order by ${order} desc limit 1)`
    : `(select coalesce(json_agg(${lineOf(child, row)} order by ${order}), '[]') ${from})`;
}

/** Whose rows they are: issue links are those of two issues of the project. */
const ownersCondition = (relation: Relation, owner: Owner): RawBuilder<unknown> =>
  relation.between
    ? sql`exists (select from issues i where i.id = r.source_id and i.project_id = ${owner.id})
        and exists (select from issues i where i.id = r.target_id and i.project_id = ${owner.id})`
    : sql`${sql.ref(`r.${owner.column}`)} = ${owner.id}`;

/** Rows of a page. */
const PAGE = 100;

const texts = new Map<Relation, string>();

function textOf(relation: Relation): string {
  const text = texts.get(relation) ?? lineOf(relation, 'r');
  texts.set(relation, text);
  return text;
}

/** The lines of a relation, in pages by key. */
export async function* linesOf(db: Db, relation: Relation, owner: Owner): AsyncGenerator<string[]> {
  for (let last = 0; ; ) {
    const { rows } = await sql<{ id: number; line: string }>`
      select r.id, ${sql.raw(textOf(relation))}::text as line from ${sql.table(relation.table)} r
      where ${ownersCondition(relation, owner)} and r.id > ${last}${sql.raw(conditionOf(relation, 'r'))}
      order by r.id limit ${PAGE}`.execute(db);
    if (rows.length > 0) yield rows.map(({ line }) => line);
    last = rows.at(-1)?.id ?? last;
    if (rows.length < PAGE) return;
  }
}

/** Who has written something there, without the addresses that they do not publish. */
export async function* contributorLines(db: Db, { column, id }: Owner): AsyncGenerator<string[]> {
  const own = sql.ref(column);
  const written =
    column === 'project_id'
      ? sql`select author_id from issues where project_id = ${id} union select author_id from merge_requests where project_id = ${id}
          union select closed_by_id from issues where project_id = ${id}
          union select merge_user_id from merge_requests where project_id = ${id}
          union select user_id from pipelines where project_id = ${id}
          union select user_id from ci_jobs where project_id = ${id}
          union select author_id from snippets where project_id = ${id}
          union select author_id from releases where project_id = ${id}
          union select a.user_id from award_emoji a join issues i on i.id = a.issue_id where i.project_id = ${id}
          union select a.user_id from award_emoji a join notes n on n.id = a.note_id where n.project_id = ${id}
          union select a.user_id from issue_assignees a join issues i on i.id = a.issue_id where i.project_id = ${id}
          union select a.user_id from resource_events a join issues i on i.id = a.issue_id where i.project_id = ${id}
          union select a.user_id from timelogs a join issues i on i.id = a.issue_id where i.project_id = ${id}
          union select a.user_id from resource_events a join merge_requests m on m.id = a.merge_request_id where m.project_id = ${id}
          union select a.user_id from merge_request_approvals a join merge_requests m on m.id = a.merge_request_id where m.project_id = ${id}
          union select a.user_id from merge_request_assignees a join merge_requests m on m.id = a.merge_request_id where m.project_id = ${id}
          union select a.user_id from merge_request_reviewers a join merge_requests m on m.id = a.merge_request_id where m.project_id = ${id}`
      : sql`select author_id from epics where namespace_id = ${id}
          union select a.user_id from resource_events a join epics e on e.id = a.epic_id where e.namespace_id = ${id}
          union select a.user_id from award_emoji a join epics e on e.id = a.epic_id where e.namespace_id = ${id}`;
  for (let last = 0; ; ) {
    const { rows } = await sql<{ id: number; line: string }>`
      select u.id, json_build_object('id', u.id, 'username', u.username, 'name', u.name, 'public_email', u.public_email)::text as line
      from users u where u.id > ${last} and u.kind = 'human' and u.id in (
        ${written} union select author_id from notes where ${own} = ${id}
        union select user_id from members where ${own} = ${id})
      order by u.id limit 1000`.execute(db);
    if (rows.length > 0) yield rows.map(({ line }) => line);
    last = rows.at(-1)?.id ?? last;
    if (rows.length < 1_000) return;
  }
}
