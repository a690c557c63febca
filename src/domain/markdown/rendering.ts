/** Renders short texts at once, and long ones in a thread with a timeout. */
import { extname } from 'node:path';
import { MAX_SEARCHED } from '../../platform/patterns/pattern.ts';
import { createThreads } from '../../platform/threads.ts';
import type { Dialect } from './engine.ts';
import { asWritten, type Rendered } from './rendered.ts';
import { scannerOf } from './tracker-names.ts';

/** Characters; such a text takes some tens of milliseconds at worst. */
const MAX_SHORT_LENGTH = 4_096;
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
 * The text as HTML with unresolved references; as written beyond `timeoutMs` or the memory limit. 429 or 503
 * when too many wait.
 */
export async function renderSource(
  text: string,
  dialect: Dialect,
  timeoutMs = RENDER_TIMEOUT_MS,
): Promise<Rendered> {
  const { trackerNames } = dialect;
  if (text.length <= (trackerNames === undefined ? MAX_SHORT_LENGTH : MAX_SEARCHED)) {
    const { renderDocument } = await import('./engine.ts');
    return renderDocument(text, dialect, await scannerOf(trackerNames));
  }
  return (await threads.ask({ text, dialect }, timeoutMs)) ?? asWritten(text);
}
