/**
 * The hook in which git waits with the objects of a push set apart: it alone sees them before they are stored. It refuses by
 * itself to lose commits, and asks about what is changed: a file says where the objects are, another one what is to be done.
 */
import { access, constants, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageFolder } from '../../../package.ts';
import { bytesBelow } from '../../../platform/git/copies/housekeeping.ts';
import { type ObjectFolder, objectsOf } from '../../../platform/git/history/history.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { ServiceOptions } from '../../../platform/git/program/transport.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import { readPointers } from '../../lfs/index.ts';
import { FORCE_REFUSED } from '../protection/protection-rules.ts';
import type { Judge } from '../store/repository-kinds.ts';

/** The program's own hooks; those of repositories never run. */
const HOOKS = join(packageFolder, 'bin', 'hooks');

export const namesOf = (updates: readonly RefUpdate[]): string => updates.map(({ ref }) => ref).join('\n');

/** Updates, and those of them that must keep commits; of some it counts what they change. */
export type JudgedByObjects = {
  judge: Judge;
  updates: readonly RefUpdate[];
  unforced: readonly RefUpdate[];
  /** Whether pointers of Git LFS may come. */
  brings: boolean;
};

export type PushHook = {
  /** With these git runs it. */
  options: Pick<ServiceOptions, 'configuration' | 'environment'>;
  /** To be called before git gets the end of the push: only then may the hook pass over what is pushed. */
  settle(): Promise<void>;
  /** Answers it when it asks, until git has ended. */
  attend(ended: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
};

const judgesPointers = ({ judge, brings }: JudgedByObjects): boolean =>
  brings && judge.pointersRefusal !== undefined;
const judgesSize = ({ judge, brings }: JudgedByObjects): boolean => brings && judge.sizeRefusal !== undefined;

const noHook: PushHook = {
  options: {},
  settle: async () => {},
  attend: async () => {},
  close: async () => {},
};

/** Nothing runs where no update is judged so. */
export async function openHook(git: GitFolder, judged: JudgedByObjects): Promise<PushHook> {
  const { judge, updates, unforced } = judged;
  const byContents = () => updates.filter((update) => judge.contents?.isJudged(update));
  const asks = byContents().length > 0 || judgesPointers(judged) || judgesSize(judged);
  if (unforced.length === 0 && !asks) return noHook;
  // git passes over a hook that cannot be run.
  await access(join(HOOKS, 'pre-receive'), constants.X_OK);
  const folder = asks ? await mkdtemp(join(tmpdir(), 'ashlar-push-')) : undefined;
  return {
    options: {
      configuration: { 'core.hooksPath': HOOKS },
      environment: {
        ASHLAR_UNFORCED: namesOf(unforced),
        ASHLAR_REFUSAL: FORCE_REFUSED,
        ...(folder !== undefined && { ASHLAR_ASKING: folder }),
      },
    },
    async settle() {
      if (folder === undefined) return;
      await judge.contents?.lookAgain?.();
      if (byContents().length === 0 && !judgesSize(judged))
        await writeFile(join(folder, 'pointers-only'), '');
    },
    async attend(ended) {
      const place = folder === undefined ? undefined : await readPlace(git, folder, ended);
      if (folder === undefined || !place) return;
      let answer: string | undefined = 'The server could not judge what is pushed.';
      try {
        const pointerIds = await readPointerIds(folder);
        // git may be at the end of what it needs before the client is.
        await judge.contents?.lookAgain?.();
        answer =
          (await refusalOf({ git, place }, judge, byContents(), pointerIds)) ??
          (judgesSize(judged) ? await judge.sizeRefusal?.(await bytesApart(place)) : undefined);
      } finally {
        await writeAnswer(folder, answer);
      }
    },
    async close() {
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

const INTERVAL_MS = 20;

/** Where the objects are, once the hook says so; undefined where git ends before. */
async function readPlace(
  { folder: repository }: GitFolder,
  folder: string,
  ended: Promise<unknown>,
): Promise<ObjectFolder | undefined> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const apart = await readFile(join(folder, 'asked'), 'utf8').catch(() => undefined);
    // Without a path there is nothing that the repository does not have.
    if (apart === '') return { folder: repository };
    if (apart !== undefined)
      return {
        folder: repository,
        environment: { ...objectsOf(repository), GIT_OBJECT_DIRECTORY: apart },
      };
    await sleep(INTERVAL_MS);
  }
  return undefined;
}

const bytesApart = async ({ environment }: ObjectFolder): Promise<number> =>
  environment?.GIT_OBJECT_DIRECTORY === undefined ? 0 : bytesBelow(environment.GIT_OBJECT_DIRECTORY);

/** The first reason to refuse the push by what is in it. */
async function refusalOf(
  objects: { git: GitFolder; place: ObjectFolder },
  judge: Judge,
  byContents: readonly RefUpdate[],
  pointerIds: readonly string[],
): Promise<string | undefined> {
  const refusal = byContents.length > 0 ? await judge.contents?.refusal(objects, byContents) : undefined;
  if (refusal !== undefined) return refusal;
  for await (const pointers of readPointers(objects.place, pointerIds)) {
    const refusal = await judge.pointersRefusal?.(pointers);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** What the hook takes for pointers: blobs that begin as such; none where nothing came. */
async function readPointerIds(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'pointers'), 'latin1').catch((error: { code?: string }) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return [...text.matchAll(/^([0-9a-f]{40,64}) blob \d+$/gm)].map(([, oid = '']) => oid);
}

/** Is there whole, or not at all; without a text the push goes on. */
async function writeAnswer(folder: string, refusal: string | undefined): Promise<void> {
  const part = join(folder, 'answer.part');
  await writeFile(part, refusal === undefined ? '' : `${refusal}\n`);
  await rename(part, join(folder, 'answer'));
}
