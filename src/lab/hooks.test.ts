import { expect, test } from 'vitest';
import { createReceivers } from './hooks.ts';

const delivery = { at: '2026-01-31T09:30:00.000Z', name: 'a', method: 'POST', headers: {} };

test('the latest deliveries are kept, as far as there is room for what they brought', () => {
  const receivers = createReceivers();
  const ids = () => receivers.list('a').map(({ id }) => id);
  for (let count = 0; count < 1_001; count += 1) receivers.take({ ...delivery, bytes: Buffer.from('{}') });
  expect([ids().length, ids()[0]]).toEqual([1_000, 2]);
  const large = Buffer.alloc(25 * 1_048_576, 'x');
  for (let count = 0; count < 4; count += 1) receivers.take({ ...delivery, bytes: large });
  expect(ids()).toEqual([1_004, 1_005]);
});
