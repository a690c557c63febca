import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { parseSeed, plantSeed, seedText, writeSeed } from './index.ts';

const first = useApp();
const second = useApp();
const WORLD = readFileSync('examples/world.yml', 'utf8');

test('what is written out is planted elsewhere, and written out there is the same', async () => {
  await plantSeed(first.app, parseSeed(WORLD, 'world.yml'));
  const written = seedText(await writeSeed(first.app));
  await plantSeed(second.app, parseSeed(written, 'written.yml'));
  expect(seedText(await writeSeed(second.app))).toBe(written);
  await plantSeed(second.app, parseSeed(written, 'written.yml'));
  expect(seedText(await writeSeed(second.app))).toBe(written);
});
