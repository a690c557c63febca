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
  const byContents = names.map(update);
  const hook = await openHook(git, { judge: allowing, unforced: [], byContents, brings: true });
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

test('nothing is judged any more once git has ended', async () => {
  const judged: string[] = [];
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const contents: Judge['contents'] = {
    isJudged: () => true,
    async refusal(_objects, { ref }) {
      judged.push(ref);
      end();
      return undefined;
    },
  };
  const { hook, asking } = await opened({ contents }, ['a', 'b', 'c']);
  await writeFile(join(asking, 'asked'), '');
  await hook.attend(ended);
  expect(judged).toEqual(['refs/heads/a']);
  await hook.close();
});
