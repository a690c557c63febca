/** ashlar verify: reads a backup to its end, and says whether it is whole. */
import { migrationsFolder } from '../../instance.ts';
import { readMigrations } from '../../platform/db/migrations.ts';
import { isHead } from '../../platform/git/copies/copy.ts';
import { BadBackup, type Header } from './format.ts';
import { type Progress, sizeInWords } from './progress.ts';
import { held, type Keys, type Read, readChain, skip } from './reading.ts';

/** Throws where this program cannot restore what the header is of. */
function checkHeader({ migrations, version }: Header): void {
  const known = new Map(readMigrations(migrationsFolder).map((each) => [each.name, each.digest]));
  for (const { name, digest } of migrations) {
    const ours = known.get(name);
    if (ours === undefined)
      throw new BadBackup(
        `it is of version ${version}, whose migration ${name} is not known here: restore it with a later version`,
      );
    if (ours !== digest) throw new BadBackup(`its migration ${name} is not the one of this program`);
  }
}

export type Verified = Read & {
  files: string[];
  hasKey: boolean;
  /** The tables of more than one part. */
  large: readonly string[];
  /** Bytes of what a database takes, and of the rest; with what is borrowed. */
  sizes: { rows: number; files: number };
};

/** Reads all of it, and of the backups that it borrows from. Throws BadBackup in words. */
export async function verifyBackup(file: string, keys: Keys, progress: Progress): Promise<Verified> {
  let hasKey = false;
  const large = new Set<string>();
  const sizes = { rows: 0, files: 0 };
  const read = await readChain(file, keys, {
    begin: async (header) => checkHeader(header),
    async sink(entry, listed, pieces) {
      if (entry.kind === 'secret-key') hasKey = true;
      if (entry.kind === 'table' && entry.part > 0) large.add(entry.table);
      if (entry.kind === 'head' && !isHead((await held(pieces)).toString('latin1')))
        throw new BadBackup(`${listed.name} is damaged`);
      if (entry.kind === 'refs' && !areRefs((await held(pieces)).toString('latin1')))
        throw new BadBackup(`${listed.name} is damaged`);
      await skip(entry, listed, pieces);
      sizes[entry.kind === 'table' || entry.kind === 'jobs' ? 'rows' : 'files'] += listed.size;
      progress.at(`read: ${sizeInWords(sizes.rows + sizes.files)}`);
    },
  });
  return { ...read, hasKey, large: [...large], sizes };
}

/** Line by line: there may be millions. */
function areRefs(text: string): boolean {
  const line = /[0-9a-f]{40,64} refs\/[!-~\x80-\xff]+\n/y;
  while (line.lastIndex < text.length) if (!line.test(text)) return false;
  return true;
}
