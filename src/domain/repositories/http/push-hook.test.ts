/** How the server answers the hook of a push; pushes themselves are in the tests of what they bring. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useRepository } from '../../../../test/support/git-trees.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import type { Judge } from '../store/repository-kinds.ts';
import { openHook } from './push-hook.ts';

const git = useRepository();

const update = (name: string) => ({ before: NO_OBJECT, after: '1'.repeat(40), ref: `refs/heads/${name}` });

async function opened(judge: Partial<Judge>, names: readonly string[] = []) {
  const allowing: Judge = { refusal: () => undefined, mayForce: () => true, ...judge };
  const updates = names.map(update);
  const hook = await openHook(git, { judge: allowing, updates, unforced: [], brings: true });
  const asking = hook.options.environment?.ASHLAR_ASKING ?? '';
  return { hook, asking };
}

test('pointers that cannot be read are no reason to let a push through', async () => {
  const { hook, asking } = await opened({ pointersRefusal: async () => undefined });
  await mkdir(join(asking, 'pointers'));
  await writeFile(join(asking, 'asked'), '');
  await expect(hook.attend(new Promise(() => {}))).rejects.toThrow('EISDIR');
  expect(await readFile(join(asking, 'answer'), 'utf8')).toContain('could not judge');
  await hook.close();
});

test('all updates are judged at once: git waits a minute, and a push may have very many', async () => {
  const judged: string[][] = [];
  const contents: Judge['contents'] = {
    isJudged: () => true,
    async refusal(_objects, updates) {
      judged.push(updates.map(({ ref }) => ref));
      return 'No.';
    },
  };
  const { hook, asking } = await opened({ contents }, ['a', 'b', 'c']);
  await writeFile(join(asking, 'asked'), '');
  await hook.attend(new Promise(() => {}));
  expect(judged).toEqual([['refs/heads/a', 'refs/heads/b', 'refs/heads/c']]);
  expect(await readFile(join(asking, 'answer'), 'utf8')).toBe('No.\n');
  await hook.close();
});
