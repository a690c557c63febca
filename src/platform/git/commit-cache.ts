/** Answers about commits, which never change: kept, the oldest forgotten first, and found once for all who ask meanwhile. */
import { currentCaller } from '../fair-share.ts';

export type CommitCache<T> = (key: string, find: () => Promise<T>) => Promise<T>;

/** Keeps up to `most` answers; a failure is not one. What is being found belongs to its caller, who may have to wait for it or be refused. */
export function createCommitCache<T>(most: number): CommitCache<T> {
  const kept = new Map<string, T>();
  const finding = new Map<string, Promise<T>>();
  return async (key, find) => {
    const known = kept.get(key);
    if (known !== undefined || kept.has(key)) return known as T; // it has the key: undefined is an answer too
    const own = `${currentCaller()} ${key}`;
    const found = finding.get(own) ?? find().finally(() => finding.delete(own));
    finding.set(own, found);
    const response = await found;
    kept.set(key, response);
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    return response;
  };
}
