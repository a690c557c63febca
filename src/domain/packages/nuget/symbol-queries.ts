/** Symbols of NuGet packages, as debuggers ask for them: without a credential, where a group has its symbol server on. */
import { type RawBuilder, sql } from 'kysely';
import { asId, findProjectAt } from '../../../kernel/access/find-queries.ts';
import { belowGroup } from '../../../kernel/access/project-list-queries.ts';
import type { Database, Db } from '../../../platform/db/database.ts';
import { installable } from '../records/types.ts';

/** What the nearest group says that says anything. */
const servesSymbols = (namespaceId: RawBuilder<unknown>): RawBuilder<boolean> => sql`coalesce((
  select (g.settings ->> 'nuget_symbol_server_enabled')::boolean
  from namespaces below join namespaces g on g.id = any(below.ancestor_ids) and g.kind = 'group'
  where below.id = ${namespaceId} and g.settings ->> 'nuget_symbol_server_enabled' is not null
  order by cardinality(g.ancestor_ids) desc limit 1), false)`;

const isOpen = sql`not p.deleting and coalesce(p.settings ->> 'package_registry_access_level', '') <> 'disabled'
  and ${servesSymbols(sql`p.namespace_id`)}`;

/** The condition on the projects whose symbols are served there; undefined where there is no symbol server, or nothing at all. */
export async function findSymbolServer(
  { db, points }: Pick<Database, 'db' | 'points'>,
  kind: 'project' | 'group',
  reference: string,
): Promise<RawBuilder<unknown> | undefined> {
  const number = asId(reference);
  if (kind === 'project') {
    const id = number ?? (await findProjectAt(points, [reference]));
    const { rows } = await sql`select from projects p where p.id = ${id ?? null} and ${isOpen}`.execute(db);
    return rows.length === 0 ? undefined : sql`p.id = ${id}`;
  }
  const at = number === undefined ? sql`lower(full_path) = ${reference.toLowerCase()}` : sql`id = ${number}`;
  const { rows } = await sql<{ id: number }>`
    select id from namespaces n
    where kind = 'group' and not deleting and ${at} and ${servesSymbols(sql`n.id`)}`.execute(db);
  return rows[0] && belowGroup(rows[0].id);
}

export type SymbolKey = { name: string; signature: string; checksums: readonly Buffer[] };

/** The newest. */
export async function selectSymbols(
  db: Db,
  among: RawBuilder<unknown>,
  { name, signature, checksums }: SymbolKey,
): Promise<{ sha256: Buffer; file_name: string } | undefined> {
  const known = checksums.map((checksum) => checksum.toString('hex'));
  const { rows } = await sql<{ sha256: Buffer; file_name: string }>`
    select s.sha256, s.file_name from nuget_symbols s join package_files f on f.id = s.package_file_id
      join packages k on k.id = f.package_id join projects p on p.id = k.project_id
    where s.signature = ${signature} and encode(s.checksum, 'hex') = any(${known}::text[])
      and lower(s.file_name) = ${name.toLowerCase()} and k.status = any(${[...installable]}::text[])
      and ${among} and ${isOpen}
    order by s.id desc limit 1`.execute(db);
  return rows[0];
}
