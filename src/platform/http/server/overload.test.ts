/**
 * Shedding of requests: beyond a number in flight, and while the event loop lags, but not after a single
 * pause.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { monotonic } from '../../clock.ts';
import { createLoadGauge, type LoadGauge } from './overload.ts';

let gauge: LoadGauge;
afterEach(() => gauge.stop());

const stand = (seconds: number) => {
  const until = monotonic() + seconds * 1_000;
  while (monotonic() < until);
};

/** The gauge's response to one request. */
function answerTo(route: string) {
  const refusal = gauge.enter(route);
  gauge.leave();
  return refusal?.message;
}

const OVERLOADED = '503 Service Unavailable: overloaded';

test('who is beyond the bound is refused until somebody leaves', () => {
  gauge = createLoadGauge(2, 1);
  expect(gauge.enter('/a')).toBeUndefined();
  expect(gauge.enter('/a')).toBeUndefined();
  expect(gauge.enter('/a')?.message).toBe(OVERLOADED);
  expect(gauge.enter('/-/liveness')).toBeUndefined();
  for (let times = 0; times < 4; times += 1) gauge.leave();
  expect(answerTo('/a')).toBeUndefined();
});

test('a loop that stood still once takes requests; one that does so again and again refuses them, but for probes', async () => {
  gauge = createLoadGauge(2, 1);
  await pause(50);
  stand(1.5);
  await pause(50);
  expect(gauge.longestDelay()).toBeGreaterThan(1);
  expect(answerTo('/a')).toBeUndefined();
  for (let times = 0; times < 4; times += 1) {
    stand(1.5);
    await pause(5);
  }
  expect(answerTo('/a')).toBe(OVERLOADED);
  expect(answerTo('/-/liveness')).toBeUndefined();
  await pause(1_500);
  expect(answerTo('/a')).toBeUndefined();
});

test('after its end was announced everything is refused but probes', () => {
  gauge = createLoadGauge(2, 1);
  gauge.close();
  expect(answerTo('/a')).toBe('503 Service Unavailable: stopping');
  expect(answerTo('/-/readiness')).toBeUndefined();
});
