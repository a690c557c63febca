/** Prometheus' own promtool reads what the program shows, the alert rules with their cases, and the dashboard's questions. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ruleCasesFile, rulesFile, targets } from '../support/monitoring.ts';
import { cleanUp, makeFolder, startProgram } from './support.ts';

const PROMTOOL = '/usr/bin/promtool';

beforeAll(() => {
  if (!existsSync(PROMTOOL)) throw new Error(`no ${PROMTOOL}: install the Debian package prometheus`);
});
afterAll(() => cleanUp());

/** Runs it to its end. */
function promtool(args: readonly string[], input = ''): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, args, { input, encoding: 'utf8' });
  return { code: status, output: stdout + stderr };
}

test('the alert rules are rules, and fire when they should', () => {
  const checked = promtool(['check', 'rules', rulesFile]);
  expect(checked, checked.output).toMatchObject({ code: 0 });
  expect(checked.output).toMatch(/SUCCESS: [1-9]\d* rules found/);
  const ran = promtool(['test', 'rules', ruleCasesFile]);
  expect(ran, ran.output).toMatchObject({ code: 0 });
});

test('what the dashboard asks can be asked', () => {
  const rules = targets.map(({ expr }, at) => ({
    record: `panel:${at}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
  // JSON is YAML.
  const file = join(makeFolder(), 'dashboard.yml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const checked = promtool(['check', 'rules', file]);
  expect(checked, checked.output).toMatchObject({ code: 0 });
  expect(checked.output).toContain(`SUCCESS: ${targets.length} rules found`);
});

test('the metrics are as Prometheus wants them', async () => {
  const { url } = await startProgram();
  await fetch(`${url}/api/v4/version`);
  const metrics = await (await fetch(`${url}/-/metrics`)).text();
  expect(promtool(['check', 'metrics'], metrics)).toEqual({ code: 0, output: '' });
});
