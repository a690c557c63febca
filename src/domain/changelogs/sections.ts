/** The sections of a changelog's file: each begins with `## VERSION`, the newest version first. Pure. */
import { compareVersions, parseVersion, type Version } from './versions.ts';

export const sectionOf = (version: string, date: string, content: string): string =>
  `## ${version} (${date})\n\n${content.trim()}\n`;

/** Characters of a title that are looked at. */
const MAX_TITLE_LENGTH = 300;

/** Titles of a file that are looked at: what is behind them is of earlier versions. */
const MAX_TITLES = 10_000;

/** Where sections begin, with their versions, in the order of the file. */
function* sectionsOf(text: string): Generator<{ at: number; version: Version }> {
  let titles = 0;
  for (let at = 0; at < text.length && titles < MAX_TITLES; ) {
    const end = text.indexOf('\n', at);
    if (text.startsWith('## ', at)) {
      titles += 1;
      const title = text.slice(at + 3, Math.min(end === -1 ? text.length : end, at + MAX_TITLE_LENGTH));
      const [word = ''] = title.trim().split(/\s/, 1);
      const version = parseVersion(word.startsWith('v') ? word.slice(1) : word);
      if (version) yield { at, version };
    }
    if (end === -1) return;
    at = end + 1;
  }
}

/** The file with the section before those of earlier versions; undefined where the version has one. */
export function withSection(text: string, version: Version, section: string): string | undefined {
  let before: number | undefined;
  for (const other of sectionsOf(text)) {
    const order = compareVersions(other.version, version);
    if (order === 0) return undefined;
    if (order < 0) before ??= other.at;
  }
  if (before !== undefined) return `${text.slice(0, before)}${section}\n${text.slice(before)}`;
  const start = text.trimEnd();
  return start === '' ? section : `${start}\n\n${section}`;
}
