/** Answers about commits, which never change: kept, the oldest forgotten first, and found once for all who ask meanwhile. */

export type Answers<T> = (key: string, find: () => Promise<T>) => Promise<T>;

/** Keeps up to `most` answers; a failure is not one. */
export function keepAnswers<T>(most: number): Answers<T> {
  const kept = new Map<string, Promise<T>>();
  return (key, find) => {
    const known = kept.get(key);
    if (known) return known;
    const answer = find();
    kept.set(key, answer);
    answer.catch(() => kept.delete(key));
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    return answer;
  };
}
