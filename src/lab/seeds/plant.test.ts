import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { parseSeed } from './parse.ts';
import { plantSeed } from './plant.ts';

const ashlar = useApp();
const WORLD = readFileSync('examples/world.yml', 'utf8');

test('the example world is planted, and planted twice is what it was', async () => {
  const planted = await plantSeed(ashlar.app, parseSeed(WORLD, 'world.yml'));
  expect(Object.keys(planted.projects).sort()).toEqual(['ann/notes', 'forest/oaks/acorn', 'root/demo']);
  expect(await plantSeed(ashlar.app, parseSeed(WORLD, 'world.yml'))).toEqual(planted);
});

test.runIf(process.env.MANY)(
  'many',
  async () => {
    const n = Number(process.env.MANY);
    const text = JSON.stringify({
      groups: [{ path: 'many' }],
      projects: Array.from({ length: n }, (_, i) => ({
        path: `many/p${i}`,
        files: { 'README.md': `# ${i}\n`, 'src/a.txt': 'a' },
      })),
    });
    const parts: Record<string, number> = {};
    (globalThis as never as { parts: unknown }).parts = parts;
    let t = performance.now();
    const seed = parseSeed(text, 'x');
    console.log('parse', performance.now() - t);
    t = performance.now();
    await plantSeed(ashlar.app, seed);
    console.log('plant', performance.now() - t, parts);
    t = performance.now();
    await plantSeed(ashlar.app, seed);
    console.log('again', performance.now() - t);
  },
  600_000,
);
