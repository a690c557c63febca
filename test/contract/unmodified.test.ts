/** Every DELETE heeds If-Unmodified-Since: 412 when the object changed after that time (spec: Status codes). */
import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { digest } from '../../src/platform/secret.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { type GoodRequest, requestTo } from '../support/good-requests.ts';
import { type SampleIds, titleOf } from '../support/inventory.ts';
import { sendRaw } from '../support/raw-http.ts';
import { objectsForDelete, parametersOf } from '../support/samples.ts';
import { everything } from '../support/snapshot.ts';
import { makeWorld } from '../support/world.ts';

const ashlar = useApp();
let places: SampleIds;
const OWN_TOKEN = 'glpat-that-removes-itself';

beforeAll(async () => {
  places = await makeWorld(ashlar, 4);
  const { sql } = ashlar.app.services.database;
  await sql`insert into access_tokens (kind, digest, user_id, name, scopes, created_at, updated_at)
    values ('personal', ${digest(OWN_TOKEN)}, ${places.user}, 'own', array['api'], now(), now())`;
});

/** Identities carry no time: there is nothing to compare with. */
const timeless = new Set(['/users/:id/identities/:provider']);

type Removal = { spec: Endpoint; request: GoodRequest; token: string };

/** The request of each DELETE, with an object of its own; inner objects first, so that each still exists at its turn. */
async function removals(): Promise<Removal[]> {
  const { sql } = ashlar.app.services.database;
  const declared = objectsForDelete(places);
  const removed = new Set<string>();
  const found: Removal[] = [];
  const depth = ({ path }: Endpoint): number => path.split('/').length;
  const all = ashlar.app.endpoints.filter(({ method }) => method === 'DELETE');
  for (const spec of all.toSorted((a, b) => depth(b) - depth(a))) {
    const { at = {}, with: fields } = declared.get(spec.path) ?? {};
    const chosen: Record<string, string | number> = {};
    for (const [name, text] of Object.entries(at)) {
      const [row] = await sql.unsafe<{ value: string }[]>(`select (${text})::text as value`);
      chosen[name] = /^(user|group|project)$/.test(name) ? Number(row?.value) : (row?.value ?? '');
    }
    const last = parametersOf(spec.path).at(-1);
    if (last && !(last.name in at) && spec.path.endsWith(`:${last.name}`)) {
      const rows = places.objects?.get(spec.path)?.[last.name] ?? [];
      const own = rows.find(({ row }) => !removed.has(row));
      if (!own)
        throw new Error(
          `${titleOf(spec)}: no row is left of ${last.key}: rows or objectForDelete in its samples.ts`,
        );
      removed.add(own.row);
      chosen[last.name] = own.value;
    }
    const request = requestTo(spec, places, { at: chosen, ...(fields && { with: fields }) });
    found.push({ spec, request, token: spec.path.endsWith('/self') ? OWN_TOKEN : ROOT_TOKEN });
  }
  return found;
}

const remove = ({ request, token }: Removal, since: string) =>
  sendRaw(ashlar.url, request.line, {
    headers: { ...request.headers, 'private-token': token, 'if-unmodified-since': since },
    ...(request.body !== undefined && { body: request.body }),
  });

test('what changed since is not removed: 412', async () => {
  const all = (await removals()).filter(({ spec }) => !timeless.has(spec.path));
  const before = await everything(ashlar);
  for (const each of all) {
    const { status, text } = await remove(each, 'Sat, 01 Jan 2000 00:00:00 GMT');
    expect([titleOf(each.spec), each.request.line, status, text]).toEqual([
      titleOf(each.spec),
      each.request.line,
      412,
      '{"message":"412 Precondition Failed"}',
    ]);
  }
  expect(await everything(ashlar)).toEqual(before);
});

test('what did not change is, and a time that cannot be read is ignored (facts: Cross-cutting behaviour)', async () => {
  const future = new Date(Date.now() + 3_600_000).toUTCString();
  for (const [index, each] of (await removals()).entries()) {
    const { status, text } = await remove(each, index % 2 === 0 ? future : 'once upon a time');
    const { line } = each.request;
    expect([line, [200, 202, 204].includes(status), text]).toEqual([line, true, text]);
  }
});
