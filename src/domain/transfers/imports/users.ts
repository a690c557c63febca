/** Who the people of an archive are here: by the addresses that they publish, and only where an administrator imports. */
import type { Db } from '../../../platform/db/database.ts';
import { linesOfFile, type UnpackedFile } from '../archive/unpack.ts';
import { selectByPublicMail } from '../relations/insert-actions.ts';
import type { JsonObject } from '../relations/relation.ts';

export type ImportUsers = {
  idOf(id: number): number | undefined;
  nameOf(id: number): string | undefined;
};

/** People of whom an archive may tell; what is more stays unknown. */
const MAX_PEOPLE = 100_000;
const BATCH = 1_000;

type Person = { name: string | undefined; mail: string | undefined };

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 255 ? value : undefined;

function addPerson(people: Map<number, Person>, value: unknown): void {
  const { id, name, public_email } = (typeof value === 'object' && value !== null ? value : {}) as JsonObject;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || people.size >= MAX_PEOPLE) return;
  const known = people.get(id);
  people.set(id, {
    name: textIn(name) ?? known?.name,
    mail: textIn(public_email)?.toLowerCase() ?? known?.mail,
  });
}

async function readPeople(files: readonly (UnpackedFile | undefined)[]): Promise<Map<number, Person>> {
  const people = new Map<number, Person>();
  for (const file of files)
    if (file)
      for await (const line of linesOfFile(file)) {
        if ('isTooLong' in line) continue;
        try {
          const value = JSON.parse(line.text) as JsonObject | null;
          addPerson(people, value?.user ?? value);
        } catch {
          // The relation says so when it is read.
        }
      }
  return people;
}

/** `files` have a user, or a record with one, in each line. */
export async function findUsers(
  db: Db,
  files: readonly (UnpackedFile | undefined)[],
  isAdmin: boolean,
): Promise<ImportUsers> {
  const people = await readPeople(files);
  const found = new Map<string, number>();
  const mails = isAdmin ? [...new Set([...people.values()].flatMap(({ mail }) => mail ?? []))] : [];
  for (let start = 0; start < mails.length; start += BATCH) {
    const some = await selectByPublicMail(db, mails.slice(start, start + BATCH));
    for (const [mail, id] of some) found.set(mail, id);
  }
  return {
    idOf: (id) => found.get(people.get(id)?.mail ?? ''),
    nameOf: (id) => people.get(id)?.name,
  };
}
