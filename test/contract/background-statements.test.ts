/** What follows a write, as jobs, takes few statements. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { countWaiting } from '../../src/platform/jobs/jobs.ts';
import { useApp } from '../support/app.ts';
import { addMember, makeUser, uniqueName } from '../support/factories.ts';
import { insertIssue } from '../support/issues.ts';
import { mailsTo } from '../support/mailbox.ts';
import { countSentStatements } from '../support/sent-statements.ts';

const ashlar = useApp();
const sent = countSentStatements();

const COMMENTS = 40;
const WATCHERS = 3;
/** Four in the request, and eight afterwards; looks for jobs in vain, and what nobody waits for, are not among them. */
const MAX_STATEMENTS = 4 + 8;

/** Waits until no fact and no job waits; returns how often it looked, by a statement each time. */
async function settled(): Promise<number> {
  for (let looks = 1; ; looks++) {
    const waiting = await countWaiting(ashlar.app.services.database.background);
    if (waiting && waiting.outbox + waiting.jobs === 0) return looks;
    await sleep(50);
  }
}

async function makeProject(): Promise<{ id: number; comment: () => Promise<void> }> {
  const { body: project } = await ashlar.root('POST /projects', { body: { name: uniqueName('bridge') } });
  const { iid } = await insertIssue(ashlar, { project_id: project.id, author_id: 1 });
  return {
    id: project.id,
    async comment() {
      const body = { body: 'I have looked at it.' };
      const { status } = await ashlar.root(`POST /projects/${project.id}/issues/${iid}/notes`, { body });
      expect(status).toBe(201);
    },
  };
}

/** Statements of a comment, in the request and until nothing waits. */
async function countStatements(comment: () => Promise<void>): Promise<number> {
  await comment();
  await settled();
  const before = sent();
  for (let count = 0; count < COMMENTS; count++) await comment();
  const looks = await settled();
  return (sent() - before - looks) / COMMENTS;
}

test('a comment takes four statements, and at most eight afterwards', async () => {
  const { comment } = await makeProject();
  expect(await countStatements(comment)).toBeLessThanOrEqual(MAX_STATEMENTS);
});

test('it takes no more where several hear of it, with their mails', async () => {
  const { id, comment } = await makeProject();
  const watchers = await Promise.all(Array.from({ length: WATCHERS }, () => makeUser(ashlar)));
  for (const watcher of watchers) {
    await addMember(ashlar, `projects/${id}`, watcher, 30);
    await ashlar.as(watcher.token)(`PUT /projects/${id}/notification_settings`, { body: { level: 'watch' } });
  }
  await settled();
  expect(await countStatements(comment)).toBeLessThanOrEqual(MAX_STATEMENTS);
  for (const { username } of watchers)
    expect(mailsTo(ashlar, `${username}@example.com`)).toHaveLength(1 + COMMENTS);
});
