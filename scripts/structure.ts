/**
 * Refuses what makes the tree hard to read: folders with very many files, folders that import each other, SQL in
 * files whose names do not say so, announcements that are written past announce(), and functions that take all services.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Arrow, arrowsInCycles } from './cycles.ts';

const MAX_FILES = 25;

const files = globSync('src/**/*.ts').sort();
/** Tests and their samples import from everywhere, and ask the database what they like. */
const sources = new Map(
  files
    .filter((file) => !/(\.test|\/samples)\.ts$/.test(file))
    .map((file) => [file, readFileSync(file, 'utf8')]),
);

function crowdedFolders(): string[] {
  return [...Map.groupBy(files, dirname)]
    .filter(([, inside]) => inside.length > MAX_FILES)
    .map(([folder]) => `more than ${MAX_FILES} files: ${folder}`);
}

/** An import as an arrow between the folders at which the two paths part; undefined where one is a file. */
function arrowOf(from: string, to: string): Arrow | undefined {
  const [start, end] = [from.split('/'), to.split('/')];
  const parted = start.findIndex((part, depth) => part !== end[depth]) + 1;
  if (parted === 0 || parted >= start.length || parted >= end.length) return undefined;
  return { from: start.slice(0, parted).join('/'), to: end.slice(0, parted).join('/') };
}

/** The import rule's own check (.dependency-cruiser.mjs) sees cycles of files alone. */
function cyclesOfFolders(): string[] {
  const imported = /\b(?:from|import|import\()\s*'(\.[^']+)'/g;
  const arrows = new Map<string, Arrow>();
  for (const [file, text] of sources) {
    for (const [, path = ''] of text.matchAll(imported)) {
      const arrow = arrowOf(file, join(dirname(file), path));
      if (arrow) arrows.set(`${arrow.from} → ${arrow.to}`, arrow);
    }
  }
  return arrowsInCycles([...arrows.values()]).map(({ from, to }) => `in a cycle: ${from} → ${to}`);
}

/** A statement is looked for in queries and actions; the technical floor has few, beside what needs them. */
function sqlElsewhere(): string[] {
  const mayHave = /^src\/platform\/|(^|[/-])(queries|actions)\.ts$/;
  const tagged = /\b(sql|raw|tx)(<[^`]*>)?`[^`]*\b(select|insert|update|delete)\b/;
  const plain =
    /['`]\s*(select\s[^'`]*\bfrom|insert into|update \w+ (\w+ )?set|delete from|with (recursive )?\w+ as)\s/;
  const built = /\.(selectFrom|insertInto|updateTable|deleteFrom)\(/;
  return [...sources]
    .filter(([file, text]) => !mayHave.test(file) && [tagged, plain, built].some((sql) => sql.test(text)))
    .map(([file]) => `SQL outside of queries and actions: ${file}`);
}

/** Rows of the feed, the audit trail and the outbox are written by announce(), also within another statement. */
function announcedElsewhere(): string[] {
  const mayWrite = ['src/kernel/activity/announce-actions.ts', 'src/platform/outbox/outbox.ts'];
  const writes = /(insert into |insertInto\(')(activity_events|audit_events|outbox)\b/;
  return [...sources]
    .filter(([file, text]) => !mayWrite.includes(file) && writes.test(text))
    .map(([file]) => `announces by itself: ${file}`);
}

/** All services are for the composition root, and for what hands them to handlers: others name what they need. */
function wholeServices(): string[] {
  const mayTake = /^src\/(app|capabilities|kernel\/services)\.ts$|^src\/kernel\/api\//;
  return [...sources]
    .filter(([file, text]) => !mayTake.test(file) && /[:<(|&=] ?Services\b(?!\[)/.test(text))
    .map(([file]) => `takes all services: ${file}`);
}

const found = [
  ...crowdedFolders(),
  ...cyclesOfFolders(),
  ...sqlElsewhere(),
  ...announcedElsewhere(),
  ...wholeServices(),
].sort();
for (const problem of found) process.stderr.write(`${problem}\n`);
if (found.length > 0) process.exitCode = 1;
