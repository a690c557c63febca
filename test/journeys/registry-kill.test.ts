/** The program dies in the middle of pushes: nothing half-stored is served, and an upload goes on where it was. */

import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { askToken, openRegistry, sha256Of } from '../support/registry.ts';
import { cleanUp, makeFolder, ROOT_TOKEN, startProgram } from './support.ts';

afterAll(() => cleanUp());

const credentials = { username: 'root', password: ROOT_TOKEN };
const image = 'root/house';

test('a killed push leaves nothing that is served, and an upload goes on after the restart', async () => {
  const data = join(makeFolder(), 'data');
  const first = await startProgram({ data });
  await first.root('POST /projects', { name: 'House', path: 'house' });
  const before = openRegistry(first, credentials);
  const upload = (await before.send(`POST ${image}/blobs/uploads/`)).headers.get('location') ?? '';
  expect((await before.send(`PATCH ${upload}`, { body: 'gran' })).status).toBe(202);

  const half = 'x'.repeat(500_000);
  const digests = [sha256Of(`${half}${half}`), sha256Of(half)];
  const { token } = await askToken(first, credentials, [`repository:${image}:pull,push`]);
  const { hostname, port } = new URL(first.url);
  for (const line of [
    `POST /v2/${image}/blobs/uploads/?digest=${digests[0]}`,
    `PATCH ${new URL(upload).pathname}`,
  ]) {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write(
      `${line} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1000000\r\n\r\n${half}`,
    );
  }
  const drafts = () => readdirSync(join(data, 'blobs', 'drafts')).length;
  // The chunk that arrived, and the two that are arriving.
  for (let waited = 0; drafts() < 3 && waited < 30_000; waited += 20) await sleep(20);
  first.kill('SIGKILL');
  await first.ended;

  const second = await startProgram({ data });
  const after = openRegistry(second, credentials);
  for (const digest of digests) expect((await after.send(`HEAD ${image}/blobs/${digest}`)).status).toBe(404);
  const address = upload.replace(first.url, second.url);
  const shown = await after.send(`GET ${address}`);
  expect([shown.status, shown.headers.get('range')]).toEqual([204, '0-3']);
  const ended = await after.send(`PUT ${address}?digest=${sha256Of('granite')}`, { body: 'ite' });
  expect(ended.status).toBe(201);
  expect((await after.send(`GET ${image}/blobs/${sha256Of('granite')}`)).text).toBe('granite');
  await second.stop();
});
