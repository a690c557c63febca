/**
 * Shedding of requests: beyond a number in flight, and while the event loop lags, but not after a single
 * pause.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createLoadGauge, type LoadGauge } from './overload.ts';

let gauge: LoadGauge;
afterEach(() => gauge.stop());

/** The event loop stands still, and the machine does not compute meanwhile. */
const stand = (seconds: number) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds * 1_000);

/** The gauge's response to one request. */
function answerTo(isProbe: boolean) {
  const refusal = gauge.enter(isProbe);
  gauge.leave();
  return refusal?.message;
}

const OVERLOADED = '503 Service Unavailable: overloaded';

test('who is beyond the bound is refused until somebody leaves', () => {
  gauge = createLoadGauge(2, 1);
  expect(gauge.enter(false)).toBeUndefined();
  expect(gauge.enter(false)).toBeUndefined();
  expect(gauge.enter(false)?.message).toBe(OVERLOADED);
  expect(gauge.enter(true)).toBeUndefined();
  for (let times = 0; times < 4; times += 1) gauge.leave();
  expect(answerTo(false)).toBeUndefined();
});

test('a loop that stood still once takes requests; one that does so again and again refuses them, but for probes', async () => {
  gauge = createLoadGauge(2, 1);
  await pause(50);
  stand(1.5);
  await pause(50);
  expect(gauge.longestDelay()).toBeGreaterThan(1);
  expect(answerTo(false)).toBeUndefined();
  for (let times = 0; times < 4; times += 1) {
    stand(1.5);
    await pause(5);
  }
  expect(answerTo(false)).toBe(OVERLOADED);
  expect(answerTo(true)).toBeUndefined();
  await pause(1_500);
  expect(answerTo(false)).toBeUndefined();
});

test('after its end was announced everything is refused but probes', () => {
  gauge = createLoadGauge(2, 1);
  gauge.close();
  expect(answerTo(false)).toBe('503 Service Unavailable: stopping');
  expect(answerTo(true)).toBeUndefined();
});
