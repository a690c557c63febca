/** A list of twenty takes as many statements as a list of one: nothing is looked up for each item. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../support/app.ts';
import { addressOf, type SampleIds, titleOf } from '../support/inventory.ts';
import { isEmptyList, isFixedList } from '../support/samples.ts';
import { makeWorld, queryInWorld } from '../support/world.ts';

const ashlar = useApp({ still: true });
const COUNT = 21;
let places: SampleIds;
const statements: string[] = [];

beforeAll(async () => {
  places = await makeWorld(ashlar, COUNT);
  const seen = (text: string) => {
    // Statements of any list: the settings in force, calls counted by their address or user, the heartbeat.
    if (!/application_settings|feature_gates|rate_limit_windows|(into|from) processes/.test(text))
      statements.push(text);
  };
  const { sql, points } = ashlar.app.services.database;
  for (const pool of [sql, points]) pool.watch(seen);
});

async function listed(path: string, query: string): Promise<{ items: number; sent: string[] }> {
  statements.length = 0;
  const { status, body, text } = await ashlar.root(`GET ${path}`, { query });
  expect([path, status, text.slice(0, 200)]).toEqual([path, 200, text.slice(0, 200)]);
  return { items: body.length, sent: [...statements] };
}

test('every list takes as many statements for twenty as for one', async () => {
  const lists = ashlar.app.endpoints.filter((spec) => spec.page !== undefined && !isFixedList(titleOf(spec)));
  expect(lists.length).toBeGreaterThan(20);
  const short: string[] = [];
  const growing: string[] = [];
  for (const spec of lists) {
    const path = addressOf(spec.path, places);
    const extra = queryInWorld(titleOf(spec));
    // The first time, the driver reads the types of parameters that it does not know yet.
    await listed(path, `${extra}per_page=20`);
    const one = await listed(path, `${extra}per_page=1`);
    const twenty = await listed(path, `${extra}per_page=20`);
    const [few, many] = isEmptyList(titleOf(spec)) ? [0, 0] : [1, 20];
    if (one.items !== few || twenty.items !== many)
      short.push(`${titleOf(spec)}: ${one.items}, ${twenty.items}`);
    if (one.sent.length !== twenty.sent.length) growing.push(`${titleOf(spec)}\n${twenty.sent.join('\n')}`);
  }
  expect(short).toEqual([]);
  expect(growing).toEqual([]);
});
