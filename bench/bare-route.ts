/**
 * The bare route of the inventory: Fastify, a prepared statement that finds a row by its key on the program's own
 * database, and the bytes of the program's own answer, serialised anew where they are JSON. It learns an answer at the first
 * request for it. Usage: node bench/bare-route.ts DATA_FOLDER PROGRAM_URL TOKEN; prints its address.
 */
import fastify from 'fastify';
import { openDatabase } from '../src/platform/db/database.ts';
import { databaseOf } from './database.ts';

const [data = '', program = '', token = ''] = process.argv.slice(2);
const { sql } = openDatabase(databaseOf(data));

type Answer = { type: string; body(): string | Buffer };
const answers = new Map<string, Answer>();

async function learn(path: string): Promise<Answer> {
  const response = await fetch(`${program}${path}`, { headers: { 'private-token': token } });
  const bytes = Buffer.from(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? 'application/octet-stream';
  const record: unknown = type.startsWith('application/json') ? JSON.parse(bytes.toString()) : undefined;
  const answer = { type, body: () => (record === undefined ? bytes : JSON.stringify(record)) };
  answers.set(path, answer);
  return answer;
}

const app = fastify();
app.get('*', async ({ url }, reply) => {
  const { type, body } = answers.get(url) ?? (await learn(url));
  await sql`select * from users where id = ${1}`;
  reply.header('content-type', type);
  return body();
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
