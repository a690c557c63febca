/** The mails that an instance sent: it has no mail server, so they are files of its data folder. */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import type { Mail } from './lab.cjs';

const FOLDER = 'mail';
const ENDING = '.eml';

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, FOLDER)).catch(() => []);
  return names.filter((name) => name.endsWith(ENDING) && !name.startsWith('.'));
}

/** The oldest first. */
export async function listMails(folder: string): Promise<Mail[]> {
  const mails = await Promise.all(
    (await namesIn(folder)).map(async (name) => {
      const path = join(folder, FOLDER, name);
      const found = await Promise.all([readFile(path), stat(path)]).catch(() => undefined);
      // It was removed meanwhile.
      if (!found) return [];
      const [bytes, { mtimeMs }] = found;
      const { from, to, subject, text, html, headers } = await PostalMime.parse(bytes);
      const mail: Mail = {
        id: name.slice(0, -ENDING.length),
        at: new Date(mtimeMs).toISOString(),
        from: from?.address ?? '',
        to: (to ?? []).flatMap(({ address }) => address ?? []),
        subject: subject ?? '',
        text: text ?? '',
        html: html ?? '',
        headers: Object.fromEntries(headers.map(({ key, value }) => [key, value])),
      };
      return [{ mail, mtimeMs }];
    }),
  );
  return mails
    .flat()
    .toSorted((left, right) => left.mtimeMs - right.mtimeMs)
    .map(({ mail }) => mail);
}

export async function removeMails(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) await rm(join(folder, FOLDER, name), { force: true });
}
