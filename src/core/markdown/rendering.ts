/** Where a text is rendered: a short one at once, a long one in a thread that is stopped when it takes too long. */
import { extname } from 'node:path';
import { createThreads } from '../../platform/threads.ts';
import type { Dialect } from './engine.ts';
import { asWritten, type Rendered } from './rendered.ts';

/** Characters of a text that takes some tens of milliseconds at the very worst. */
const MAX_SHORT_LENGTH = 4_096;
/** For one long text. */
const RENDER_TIMEOUT_MS = 5_000;

const threads = createThreads<{ text: string; dialect: Dialect }, Rendered>({
  file: new URL(`./render-thread${extname(import.meta.url)}`, import.meta.url),
  share: {
    of: 'texts to render',
    places: 2,
    perCaller: 1,
    waitingPerCaller: 10,
    waiting: 100,
    timeoutMs: 10_000,
  },
  memoryMb: 64,
});

/**
 * The text as HTML with its references open; one that takes more than `timeoutMs`, or too much memory, is shown as it was
 * written. 429 or 503 when too many wait.
 */
export async function renderSource(
  text: string,
  dialect: Dialect,
  timeoutMs = RENDER_TIMEOUT_MS,
): Promise<Rendered> {
  if (text.length <= MAX_SHORT_LENGTH) {
    const { renderDocument } = await import('./engine.ts');
    return renderDocument(text, dialect);
  }
  return (await threads.ask({ text, dialect }, timeoutMs)) ?? asWritten(text);
}
