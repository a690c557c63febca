/**
 * The bare route that the program is measured against: Fastify, the prepared statements on the program's own
 * database, and a record of the same bytes through the same serialiser. It checks no credential, ability or
 * header. Usage: node bench/baseline.ts DATA_FOLDER PROGRAM_URL TOKEN; prints its address.
 */
import fastify from 'fastify';
import Type, { type TSchema } from 'typebox';
import { selectProfiles } from '../src/domain/accounts/users/queries.ts';
import { UserRecord } from '../src/domain/accounts/users/schema.ts';
import { projectFilters, projectOrder } from '../src/domain/namespaces/projects/reading/filter-queries.ts';
import { listProjects } from '../src/domain/namespaces/projects/reading/list-queries.ts';
import { ProjectRecord } from '../src/domain/namespaces/projects/reading/routes.ts';
import { projectColumns, projectTables } from '../src/kernel/namespaces/rows.ts';
import { openDatabase } from '../src/platform/db/database.ts';
import type { Parameter } from '../src/platform/db/driver/sql.ts';
import { serializerOf } from '../src/platform/http/serialize.ts';
import { databaseOf } from './database.ts';

const [data = '', program = '', token = ''] = process.argv.slice(2);
const { db, sql } = openDatabase(databaseOf(data));

type Statement = { text: string; parameters: readonly Parameter[] };
const run = ({ text, parameters }: Statement) => sql.unsafe(text, parameters, { prepare: true });

/** The statements of the program's own list, as it sends them for this caller. */
async function statementsOfList(): Promise<Statement[]> {
  const statements: Statement[] = [];
  const response = await fetch(`${program}/api/v4/user`, { headers: { 'private-token': token } });
  const { id } = (await response.json()) as { id: number };
  const actor = {
    id,
    username: 'root',
    name: 'root',
    commitEmail: '',
    admin: true,
    auditor: false,
    external: false,
    kind: 'human',
    credential: { via: 'session', sessionId: 0 },
  } as const;
  const page = { kind: 'offset', page: 1, perPage: 20, offset: 0, countLimit: 10_000 } as const;
  sql.watch((text, values) => statements.push({ text, parameters: values as readonly Parameter[] }));
  await listProjects(db, actor, projectFilters({}, actor), page, projectOrder({}));
  sql.watch(() => {});
  return statements;
}

const app = fastify();

/** A route that reads the rows of the response and sends the program's own response at the same path. */
async function mirror(path: string, schema: TSchema, read: () => Promise<unknown>): Promise<void> {
  const response = await fetch(`${program}/api/v4${path}`, { headers: { 'private-token': token } });
  const text = await response.text();
  const record: unknown = JSON.parse(text);
  const serialize = serializerOf(schema);
  if (serialize(record) !== text) throw new Error(`the baseline would not send the same bytes for ${path}`);
  app.get(path.replace(/\?.*/, ''), async (_request, reply) => {
    await read();
    reply.header('content-type', 'application/json');
    return serialize(record);
  });
}

await mirror('/user', UserRecord, () => selectProfiles(sql, [1], 1));
await mirror('/projects/1', ProjectRecord, () =>
  run({ text: `select ${projectColumns} from ${projectTables} where p.id = $1`, parameters: [1] }),
);
const list = await statementsOfList();
await mirror('/projects?per_page=20', Type.Array(ProjectRecord), () => Promise.all(list.map(run)));
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
