import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import type { Capability } from '../../kernel/capability.ts';
import { goesOn, rulesOf, tableRules } from './rules.ts';

const t = useApp();

/** All that may be in the table of jobs. */
function allTasks(): string[] {
  const all: readonly Partial<Capability>[] = t.app.capabilities.flatMap((each) => [
    each,
    each.forRegistered?.() ?? {},
  ]);
  const tasks = all.flatMap(({ tasks = {} }) => Object.keys(tasks));
  const heard = all.flatMap(({ listeners = [] }) => listeners.map(({ task }) => task));
  return [...new Set([...tasks, ...heard])];
}

test('each task has exactly one rule', () => {
  const tasks = allTasks();
  expect(tasks.length).toBeGreaterThan(150);
  expect(tasks.filter((task) => rulesOf(task).length !== 1)).toEqual([]);
});

test.each([
  ['hooks.prepare_issue_created', false],
  ['notifications.send', false],
  ['mail.password_reset', false],
  ['alerts.mail_one', false],
  ['transfers.upload', false],
  ['hooks.sweep', true],
  ['ci.follow_push', true],
  ['merge_requests.reconcile', true],
  ['projects.erase', true],
])('%s goes on: %s', (task, expected) => {
  expect(goesOn(task)).toBe(expected);
});

test('the tables that have a rule are there, and their conditions are of their columns', async () => {
  for (const [table, rule] of Object.entries(tableRules)) {
    const where = rule.do === 'keep' ? rule.where : 'true';
    await expect(
      t.app.services.database.sql.unsafe(`select count(*) from ${table} where ${where}`),
    ).resolves.toHaveLength(1);
  }
});

test('a table whose rows say who is at work, or what was sent, has a rule, or is one of these', async () => {
  const rows = await t.app.services.database.sql.unsafe<{ table: string }[]>(`
    select distinct c.relname as table from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and a.attname ~ '(^|_)(process_id|runner|lease|claimed|sent_at|attempts|beat_at)$' order by 1`);
  const settled = {
    // afterLoading.
    mirrors: 'runner',
    processes: 'beat_at',
    storage_moves: 'process_id',
    // Read again by the process that digests events; nothing is sent by it that no event asked for.
    error_spool: 'attempts',
    // When the last mail of a reset went out, which bounds their number.
    users: 'reset_sent_at',
  };
  const others = rows
    .map(({ table }) => table)
    .filter((table) => !(table in tableRules) && !(table in settled));
  expect(others).toEqual([]);
});
