/** What the program sends to hooks, held against the tables of hook-payloads.md, which are written from the facts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { announceExpiring } from '../../src/domain/tokens/expiry/expiry-actions.ts';
import { useApp } from '../support/app.ts';
import { openBrowser, signInAs } from '../support/browser.ts';
import {
  type Ask,
  eventName,
  type HookStep,
  type HookWorld,
  hookSteps,
  makeHookWorld,
  untold,
} from '../support/hook-world.ts';
import { useHookReceiver } from '../support/hooks.ts';
import { payloadProblems, readPayloadTables, rowsOf } from '../support/payload-tables.ts';
import { untilQuiet } from '../support/snapshot.ts';
import type { Received } from '../support/web-server.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'ultimate' } });
const receiver = useHookReceiver(ashlar);
const tables = readPayloadTables(readFileSync(join(import.meta.dirname, 'hook-payloads.md'), 'utf8'));
let world: HookWorld;

const ask: Ask = async (request, body, token) => {
  const [path = '', query] = request.split('?');
  const call = token === undefined ? ashlar.root : ashlar.as(token);
  const { status, text, body: reply } = await call(path, { body, ...(query && { query }) });
  if (status < 200 || status > 299) throw new Error(`${request}: ${status} ${text}`);
  return reply;
};

/** What is told inside the program alone. */
const ownSteps: HookStep[] = [
  {
    what: 'tokens that expire soon',
    async act({ at }) {
      const expires_at = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
      for (const home of [at.project, at.group])
        await ask(`POST ${home}/access_tokens`, { name: 'winch', scopes: ['api'], expires_at });
      await announceExpiring(ashlar.app.services.database.background);
    },
    tells: Array<string>(2).fill('Resource Access Token Hook: access_token'),
  },
  {
    what: 'a blocked user who is refused',
    async act({ mason }) {
      await ask(`POST /users/${mason.id}/block`);
      await signInAs(openBrowser(ashlar), mason.username, 'wrong');
    },
    tells: ['System Hook: user_failed_login'],
  },
];
const steps = [...hookSteps, ...ownSteps];

beforeAll(async () => {
  world = await makeHookWorld(ask, receiver.url, () => untilQuiet(ashlar));
});

const tableOf = (received: Received) => eventName(received).replace(/ \(.*/, '');
const problemsOf = (received: Received, saw?: (row: string) => void) =>
  payloadProblems(tables, tableOf(received), JSON.parse(received.body), saw);

describe('as its table has it, field by field:', () => {
  test.each(steps)('$what', { timeout: 60_000 }, async (step) => {
    const before = receiver.received().length;
    await step.act(world);
    const told = () => receiver.received().slice(before);
    await expect.poll(() => untold(step, told()), { timeout: 10_000 }).toEqual([]);
    expect([...new Set(told().flatMap((each) => problemsOf(each)))]).toEqual([]);
  });
});

/** Rows that no payload had a value for: what the program has not, by the row or docs/divergences.md, and what the steps do not do. */
const unseen = [
  'Reviewer: re_requested',
  // No picture of a project.
  'Project: avatar_url',
  'ShortProject: avatar_url',
  'Build: artifacts_file.filename',
  'Build: artifacts_file.size',
  'Issue: last_edited_by_id',
  'Issue: updated_by_id',
  'Issue: human_time_change',
  'Issue: status',
  'MergeRequest: last_edited_by_id',
  // No merge that fails.
  'MergeRequest: merge_error',
  'MergeRequest: updated_by_id',
  'MergeRequest: human_time_change',
  'MergeRequest: approval_rules',
  'MergeRequest: actioned_at',
  'Note: attachment',
  'Note: change_position',
  'Note: resolved_by_push',
  'Note: st_diff',
  'Note: updated_by_id',
  'IssueChanges: updated_at',
  // No merge that waits for threads: src/domain/merge-requests/registrations/hook-events.test.ts.
  'MergeRequestChanges: blocking_discussions_resolved',
  'MergeRequestChanges: updated_at',
  // Always null: only tags have one.
  'Push Hook: push: message',
  // No award on a comment on a commit.
  'Emoji Hook: emoji: commit',
];

test('every row of every table was seen with a value, but for these', () => {
  const seen = new Set<string>();
  for (const each of receiver.received()) problemsOf(each, (row) => seen.add(row));
  const missing = rowsOf(tables).filter((row) => !seen.has(row));
  expect(missing.filter((row) => !row.endsWith(': group_plan'))).toEqual(unseen);
});

test('a payload with a field more, or with another value in any, does not fit', () => {
  const lasts = new Map(receiver.received().map((each) => [eventName(each), each]));
  for (const [name, last] of lasts) {
    const table = tableOf(last);
    const payload = JSON.parse(last.body);
    const problems = (changed: object) => payloadProblems(tables, table, { ...payload, ...changed }).length;
    expect(problems({ more: 1 }), name).toBeGreaterThan(0);
    for (const field of Object.keys(payload))
      expect(problems({ [field]: [[]] }), `${name}: ${field}`).toBeGreaterThan(0);
  }
});
