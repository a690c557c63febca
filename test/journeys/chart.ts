/** The chart in packaging/chart, as helm reads it. */
import { join } from 'node:path';
import type { Ran } from './debian.ts';
import { runGo } from './programs.ts';
import { makeFolder } from './support.ts';

const chart = join(import.meta.dirname, '..', '..', 'packaging', 'chart');

export type Values = Record<string, string>;

/** Runs a command of helm on it with values by path. */
export async function helm(command: readonly string[], values: Values): Promise<Ran> {
  const folder = makeFolder();
  const set = Object.entries(values).flatMap(([path, value]) => ['--set', `${path}=${value}`]);
  const { code, output } = await runGo('helm', [...command, chart, ...set], {
    folder,
    home: folder,
    env: {},
  });
  return { code: code ?? -1, output };
}

/** The manifests of a release. */
export async function render(release: string, values: Values): Promise<string> {
  const { code, output } = await helm(['template', release], values);
  if (code !== 0) throw new Error(output);
  return output;
}
