/**
 * The baseline of writing: a bare route that does one durable INSERT on the program's own database, by pg's own
 * pool: a baseline that used ours would move with it. Usage: node bench/insert-baseline.ts DATA_FOLDER; prints its
 * address.
 */
import fastify from 'fastify';
import { Pool } from 'pg';
import { databaseOf } from './database.ts';

const [data = ''] = process.argv.slice(2);
const target = databaseOf(data);
const pool = new Pool({ ...(typeof target === 'string' ? { connectionString: target } : target), max: 16 });
await pool.query(`create table bench_rows (
  id bigint generated always as identity primary key, title text not null, description text, created_at timestamptz not null)`);

const app = fastify();
app.post<{ Body: { title: string; description: string } }>('/rows', async (request, reply) => {
  const { title, description } = request.body;
  const { rows } = await pool.query({
    name: 'insert',
    text: 'insert into bench_rows (title, description, created_at) values ($1, $2, now()) returning *',
    values: [title, description],
  });
  reply.code(201);
  return rows[0];
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
