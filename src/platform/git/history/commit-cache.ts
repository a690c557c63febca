/**
 * A cache of facts about commits, which never change: the oldest are dropped first, and concurrent requests
 * of a caller share one result.
 */
import { currentCaller } from '../../fair-share.ts';

export type CommitCache<T> = (key: string, find: () => Promise<T>) => Promise<T>;

/**
 * Caches up to `most` results, of those that are worth it, but no failures. A pending result belongs to its caller, who may have to wait
 * for it or be refused.
 */
export function createCommitCache<T>(
  most: number,
  isWorthIt: (result: T) => boolean = () => true,
): CommitCache<T> {
  const kept = new Map<string, T>();
  const finding = new Map<string, Promise<T>>();
  return async (key, find) => {
    const known = kept.get(key);
    if (known !== undefined || kept.has(key)) return known as T; // undefined is a result too
    const own = `${currentCaller()} ${key}`;
    const found = finding.get(own) ?? find().finally(() => finding.delete(own));
    finding.set(own, found);
    const response = await found;
    if (isWorthIt(response)) kept.set(key, response);
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    return response;
  };
}
