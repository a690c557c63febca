/** The endpoint inventory for contract tests: names, addresses and committed files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import type { ObjectsByPath } from './samples.ts';

/** The places of a world by their ids, and the objects in it that paths name. */
export type SampleIds = { user: number; group: number; project: number; objects?: ObjectsByPath };

export const titleOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

/**
 * The endpoint's path with values instead of parameters: that of its first subject, then `others` by name, then the
 * samples, then 1.
 */
export function addressOf(
  path: string,
  places: SampleIds,
  others: Record<string, string | number> = {},
): string {
  const starts: Record<string, number> = {
    users: places.user,
    groups: places.group,
    group: places.group,
    namespaces: places.group,
    projects: places.project,
  };
  const [, start = '', first = ''] = path.split('/');
  const sampled = places.objects?.get(path);
  let subject = first.startsWith(':') ? starts[start] : undefined;
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = subject ?? others[name] ?? sampled?.[name]?.[0]?.value ?? 1;
    subject = undefined;
    return encodeURIComponent(id);
  });
}

const goldenFile = (name: string): URL => new URL(`../contract/${name}`, import.meta.url);
/** A committed file's text. */
export const readGolden = (name: string): string => readFileSync(goldenFile(name), 'utf8');

/** The text is the committed file's; `UPDATE_GOLDEN=1` writes it there instead. */
export function expectGolden(name: string, text: string): void {
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(goldenFile(name), text);
  expect(text).toBe(readGolden(name));
}

/** Runs the work on each item, `width` at a time. */
export async function forEachOf<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const run = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, run));
}
