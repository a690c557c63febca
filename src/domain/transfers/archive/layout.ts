/** What an archive may have in it, by the names of its entries. Pure. */

/** The layout of archives that are made here, and the ones that are read. */
export const VERSION = '0.2.4';

export const isKnownVersion = (text: string): boolean => /^0\.2\.\d{1,4}\n?$/.test(text);

/** An entry that is used, one that is passed over, or one for which the whole archive is refused. */
export type EntryUse = 'read' | 'passed over' | 'refused';

const read: readonly RegExp[] = [
  /^VERSION$/,
  /^tree\/project\.json$/,
  /^tree\/project\/[a-z_]{1,64}\.ndjson$/,
  /^tree\/groups\/_all\.ndjson$/,
  /^tree\/groups\/\d{1,15}\.json$/,
  /^tree\/groups\/\d{1,15}\/[a-z_]{1,64}\.ndjson$/,
  /^project(?:\.wiki)?\.bundle$/,
  /^groups\/\d{1,15}\.wiki\.bundle$/,
  /^snippets\/[0-9a-f]{1,64}\.bundle$/,
  /^uploads\/[0-9a-f]{32}\/[^/]{1,255}$/,
  /^lfs-objects\/[0-9a-f]{64}$/,
  /^lfs-objects\.json$/,
  /^avatar\/[^/]{1,255}$/,
];

// biome-ignore lint/suspicious/noControlCharactersInRegex: no name has them.
const hostile = /[\u0000-\u001f\u007f\\]|^\/|(?:^|\/)\.\.(?:\/|$)|^[a-zA-Z]:/;

/** The name without what programs put before it; tar has `./` there. */
export const entryName = (name: string): string => name.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');

export function entryUse(name: string): EntryUse {
  if (hostile.test(name) || name.length > 1_024) return 'refused';
  return read.some((pattern) => pattern.test(name)) ? 'read' : 'passed over';
}

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');

/** `2026-11-29_10-20-300_group_project_export.tar.gz` */
export function exportName(fullPath: string, time: Date): string {
  const day = `${time.getUTCFullYear()}-${pad(time.getUTCMonth() + 1)}-${pad(time.getUTCDate())}`;
  const hour = `${pad(time.getUTCHours())}-${pad(time.getUTCMinutes())}-${pad(time.getUTCMilliseconds(), 3)}`;
  return `${day}_${hour}_${fullPath.replaceAll('/', '_').slice(0, 100)}_export.tar.gz`;
}
