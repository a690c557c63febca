/**
 * Which files are moved to the object store before others. A move that fails may be the file's fault or the store's: a file is
 * suspected first, and tried again behind all others. Where it fails again though others moved meanwhile, it rests for an hour.
 */
import { now } from '../clock.ts';

const REST_MS = 3_600_000;
/** Beyond them the oldest are forgotten: they are tried with the others again. */
const MAX_REMEMBERED = 10_000;

function remember(names: Map<string, number>, name: string, value: number): void {
  const [oldest] = names.keys();
  if (names.size >= MAX_REMEMBERED && oldest !== undefined) names.delete(oldest);
  names.set(name, value);
}

export type MoveOrder = {
  /** Whether it is neither suspected nor at rest. */
  isFresh(name: string): boolean;
  /** Who failed longest ago first. */
  suspects(): string[];
  moved(name: string): void;
  failed(name: string): void;
};

export function createMoveOrder(): MoveOrder {
  /** Moves and failures so far. */
  let tried = 0;
  let lastMoved = 0;
  /** When each failed first, as their number says, and until when each rests. */
  const suspects = new Map<string, number>();
  const resting = new Map<string, number>();
  return {
    isFresh: (name) => !suspects.has(name) && (resting.get(name) ?? 0) <= now().getTime(),
    suspects: () => [...suspects.keys()],
    moved(name) {
      lastMoved = ++tried;
      suspects.delete(name);
      resting.delete(name);
    },
    failed(name) {
      const first = suspects.get(name) ?? ++tried;
      suspects.delete(name);
      resting.delete(name);
      if (lastMoved > first) remember(resting, name, now().getTime() + REST_MS);
      else remember(suspects, name, first);
    },
  };
}
