import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { lines, type Message } from './wire.ts';

test('messages arrive whole, wherever their lines are cut', async () => {
  const sent: Message[] = [
    { ask: 1, name: 'start', value: 'ä\nb' },
    { answer: 1, value: null },
    { answer: 2, value: 'x'.repeat(100) },
  ];
  const bytes = Buffer.from(sent.map((message) => `${JSON.stringify(message)}\n`).join(''));
  for (const size of [1, 7, 64, bytes.length]) {
    const stream = new PassThrough();
    const got: Message[] = [];
    lines(stream, stream).receive((message) => got.push(message));
    for (let at = 0; at < bytes.length; at += size) stream.write(bytes.subarray(at, at + size));
    for (let turn = 0; turn < 10 && got.length < sent.length; turn += 1) await nextTurn();
    expect(got).toEqual(sent);
  }
});
