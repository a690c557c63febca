/** The thread that holds what is pushed to the patterns of a push rule: those are users', and texts may be long. */
import { parentPort } from 'node:worker_threads';
import { patternCompiler } from '../../../platform/patterns/pattern.ts';
import { contentsRefusal, type Judged, type Meets } from './rules.ts';

export type MatchAnswer = { refusal: string | undefined };

parentPort?.on('message', async (judged: Judged) => {
  const compile = await patternCompiler();
  const compiled = new Map<string, ReturnType<typeof compile>>();
  const meets: Meets = (pattern, text) => {
    const known = compiled.get(pattern) ?? compile(pattern);
    compiled.set(pattern, known);
    return 'test' in known && known.test(text);
  };
  parentPort?.postMessage({ refusal: contentsRefusal(judged, meets) } satisfies MatchAnswer);
});
