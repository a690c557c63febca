/** What follows a write, as jobs, takes few statements. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { countWaiting } from '../../src/platform/jobs/jobs.ts';
import { useApp } from '../support/app.ts';
import { insertIssue } from '../support/issues.ts';

import { countSentStatements } from '../support/sent-statements.ts';

const ashlar = useApp();
const sent = countSentStatements();

const COMMENTS = 40;
/** Four in the request, and eight afterwards, with those that look for jobs in vain. */
const MAX_STATEMENTS = 4 + 8;

/** Waits until no fact and no job waits; returns how often it looked, by a statement each time. */
async function settled(): Promise<number> {
  for (let looks = 1; ; looks++) {
    const waiting = await countWaiting(ashlar.app.services.database.background);
    if (waiting && waiting.outbox + waiting.jobs === 0) return looks;
    await sleep(50);
  }
}

test('a comment takes four statements, and at most eight afterwards', async () => {
  const { body: project } = await ashlar.root('POST /projects', { body: { name: 'Bridge' } });
  const { iid } = await insertIssue(ashlar, { project_id: project.id, author_id: 1 });
  const comment = async () => {
    const body = { body: 'I have looked at it.' };
    const { status } = await ashlar.root(`POST /projects/${project.id}/issues/${iid}/notes`, { body });
    expect(status).toBe(201);
  };
  await comment();
  await settled();
  const before = sent();
  for (let count = 0; count < COMMENTS; count++) await comment();
  const looks = await settled();
  expect((sent() - before - looks) / COMMENTS).toBeLessThanOrEqual(MAX_STATEMENTS);
});
