/**
 * The baseline of writing: a bare route that does one durable INSERT on the program's own database. Usage:
 * node bench/insert-baseline.ts DATA_FOLDER; prints its address.
 */
import fastify from 'fastify';
import { connect } from '../src/platform/db/database.ts';
import { databaseOf } from './database.ts';

const [data = ''] = process.argv.slice(2);
const sql = connect(databaseOf(data), { max: 16, statementTimeout: 0, name: 'bench baseline' });
await sql`create table bench_rows (
  id bigint generated always as identity primary key, title text not null, description text, created_at timestamptz not null)`;

const app = fastify();
app.post<{ Body: { title: string; description: string } }>('/rows', async (request, reply) => {
  const { title, description } = request.body;
  const [row] = await sql`
    insert into bench_rows (title, description, created_at) values (${title}, ${description}, now()) returning *`;
  reply.code(201);
  return row;
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
