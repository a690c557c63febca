/** Push rules as they are kept, and the accounts behind the addresses of commits. */

import type { Selectable } from 'kysely';
import { type RawBuilder, sql } from 'kysely';
import { parentColumns, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { PushRulesTable } from '../../../platform/db/rows.ts';
import type { Pusher, PushRule } from './rules.ts';

export type PushRuleRow = Selectable<PushRulesTable>;

/** The rule of a project as JSON, a part of other statements; null without one. */
export const pushRuleJson = (projectId: RawBuilder<unknown>): RawBuilder<PushRule | null> =>
  sql<PushRule | null>`(select to_jsonb(r) from push_rules r where r.project_id = ${projectId})`;

const ofParent = (parent: ResourceParent) => {
  const [entry] = Object.entries(parentColumns(parent));
  const [column, id] = entry as ['project_id' | 'namespace_id', number];
  return { column, id };
};

export const selectRule = (db: Db, parent: ResourceParent): Promise<PushRuleRow | undefined> =>
  db
    .selectFrom('push_rules')
    .selectAll()
    .where(ofParent(parent).column, '=', ofParent(parent).id)
    .executeTakeFirst();

/** The same, locked until the transaction ends. */
export const lockRule = (tx: Db, parent: ResourceParent): Promise<PushRuleRow | undefined> =>
  tx
    .selectFrom('push_rules')
    .selectAll()
    .where(ofParent(parent).column, '=', ofParent(parent).id)
    .forUpdate()
    .executeTakeFirst();

/** Characters of an address in a commit; longer ones are nobody's. */
const MAX_ADDRESS_LENGTH = 254;
const isAddress = (text: string): boolean => text.length <= MAX_ADDRESS_LENGTH && !text.includes('\0');

/** Those of the addresses that accounts have confirmed, in lower case. */
export async function selectAccountAddresses(db: Db, addresses: readonly string[]): Promise<Set<string>> {
  const given = [...new Set(addresses.map((each) => each.toLowerCase()))].filter(isAddress);
  const { rows } = await sql<{ email: string }>`
    select a.email from unnest(${given}::text[]) a(email) where exists (
      select from emails e where lower(e.email) collate "C" = a.email and e.confirmed_at is not null)`.execute(
    db,
  );
  return new Set(rows.map(({ email }) => email));
}

/** The account that pushes, with all of its addresses. */
export async function selectPusher(db: Db, id: number): Promise<Pusher> {
  const { rows } = await sql<{ name: string; email: string; confirmed: boolean }>`
    select u.name, lower(a.email) as email, bool_or(a.confirmed) as confirmed from users u, lateral (
      select e.email, e.confirmed_at is not null as confirmed from emails e where e.user_id = u.id
      union all select u.email, u.confirmed_at is not null) a
    where u.id = ${id} group by u.name, lower(a.email)`.execute(db);
  const [first] = rows;
  return first && { name: first.name, addresses: new Map(rows.map((row) => [row.email, row.confirmed])) };
}
