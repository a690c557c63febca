/** kill -9 during a storm of alerts: each one that got 200 is stored, once. */
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { alertsOf, makeReceiver, type Receiver } from './alert-receivers.ts';
import { cleanUp, killNow, makeFolder, type Program, postmaster, startProgram } from './support.ts';

afterAll(() => cleanUp());

const victims = {
  'the program': (program: Program) => [program.pid],
  'the database': (program: Program) => [postmaster(program.data)],
  both: (program: Program) => [postmaster(program.data), program.pid],
};
const ROUNDS = 3;
const CLIENTS = 16;
/** Every third is one that repeats. */
const REPEATED = 'again and again';

type Storm = { sent: Set<string>; acknowledged: Set<string>; repeats: number; repeatsAcknowledged: number };

/** Clients send until `enough` are acknowledged; then `strike` comes down while others are under way. */
async function sendUntilStruck(
  receiver: Receiver,
  url: string,
  storm: Storm,
  round: string,
  enough: number,
  strike: () => void,
): Promise<void> {
  const address = new URL(new URL(receiver.url).pathname, url);
  const headers = { authorization: `Bearer ${receiver.key}`, 'content-type': 'application/json' };
  let [struck, taken] = [false, 0];
  const client = async (number: number): Promise<void> => {
    for (let sent = 0; !struck; sent++) {
      const isRepeat = sent % 3 === 2;
      const title = isRepeat ? REPEATED : `${round}, client ${number}, ${sent}`;
      if (isRepeat) storm.repeats += 1;
      else storm.sent.add(title);
      const body = JSON.stringify({ title, fingerprint: isRepeat ? REPEATED : undefined });
      const response = await fetch(address, { method: 'POST', headers, body }).catch(() => undefined);
      const told = response?.status === 200 ? await response.json().catch(() => undefined) : undefined;
      if (told !== undefined) {
        expect(told).toEqual([{ iid: expect.any(Number), title }]);
        taken += 1;
        if (isRepeat) storm.repeatsAcknowledged += 1;
        else storm.acknowledged.add(title);
      }
      if (!struck && (!response || taken >= enough)) {
        struck = true;
        strike();
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
}

test('after kill -9 what was acknowledged is there once, and nothing twice', async () => {
  const data = join(makeFolder(), 'data');
  let program = await startProgram({ data });
  const receiver = await makeReceiver(program, 'Storm', 'http');
  const storm: Storm = { sent: new Set(), acknowledged: new Set(), repeats: 0, repeatsAcknowledged: 0 };
  const check = async (): Promise<void> => {
    const alerts = await alertsOf(program, receiver);
    const titles = alerts.map(({ title }) => title);
    expect(titles.length).toBe(new Set(titles).size);
    expect([...storm.acknowledged].filter((title) => !titles.includes(title))).toEqual([]);
    expect(titles.filter((title) => title !== REPEATED && !storm.sent.has(title))).toEqual([]);
    const seen = alerts.find(({ title }) => title === REPEATED)?.event_count ?? 0;
    expect(seen).toBeGreaterThanOrEqual(storm.repeatsAcknowledged);
    expect(seen).toBeLessThanOrEqual(storm.repeats);
    const iids = alerts.map(({ iid }) => iid);
    expect(iids).toEqual(iids.map((_, place) => place + 1));
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [victim, pick] of Object.entries(victims)) {
      const enough = 60 + 50 * round;
      await sendUntilStruck(receiver, program.url, storm, `${round} ${victim}`, enough, () => {
        for (const pid of pick(program)) killNow(pid);
      });
      program.kill('SIGKILL');
      await program.ended;
      program = await startProgram({ data });
      await check();
    }
  }
  expect(storm.acknowledged.size).toBeGreaterThan(ROUNDS * 3 * 40);
  expect(storm.repeatsAcknowledged).toBeGreaterThan(0);
  await program.stop();
});
