/** To-do targets: for each kind of thing that to-do items are about, its owner registers a value. */
import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { Actor } from '../../../kernel/actor.ts';
import type { Context } from '../../../kernel/api/endpoint.ts';
import type { ProjectRow } from '../../../kernel/namespaces/rows.ts';
import { Registry } from '../../../kernel/registry.ts';
import { userBasicJson } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { TodosTable } from '../../../platform/db/rows.ts';

/** An item with what its record repeats; its author is null when deleted meanwhile. */
export type TodoRow = Selectable<TodosTable> & { author: UserBasicRow | null; note_body: string | null };

/** The columns of TodoRow. */
export const todoColumns = (table: 't' | 'todos'): RawBuilder<TodoRow> =>
  sql.raw(`${table}.*, ${userBasicJson(`${table}.author_id`)} as author,
    (select n.body from notes n where n.id = ${table}.note_id) as note_body`);

/** The owner of the items, and the services of the request. */
export type TodoReading = Pick<Context<unknown, unknown, Actor>, 'db' | 'services' | 'settings' | 'actor'>;

/** The record of a target, with the fields that the item repeats. */
export type TargetRecord = { title: string; web_url: string };

export type TodoTarget = {
  /** The public name (facts: Todo). */
  type: string;
  /** The column of `todos` that refers to the target. */
  column: 'issue_id' | 'epic_id' | 'merge_request_id' | 'commit_sha' | 'alert_id';
  /**
   * The condition that the actor sees the target of an item `t` and its note `note`, over visibleTodos(); `level` is
   * the actor's role on the item's project `p` or group. The CTEs of reachedCtes() are there, too.
   */
  isVisible(actor: Actor, level: RawBuilder<unknown>): RawBuilder<SqlBool>;
  /** Loads the records for a page of items, all of them about such targets; `projects` are those of the items. */
  load(
    reading: TodoReading,
    todos: readonly TodoRow[],
    projects: Promise<ReadonlyMap<number, ProjectRow>>,
  ): Promise<(todo: TodoRow) => TargetRecord | undefined>;
};

export const todoTargets = new Registry<TodoTarget>();
