/** Pointers among files that are sent together: the objects that take their places. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Replacing } from '../../../platform/archives/tar-rewriting.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { POINTER_BYTES, parsePointer } from '../pointers/pointer.ts';
import { readPointers } from '../pointers/read-pointers.ts';
import { selectObjects } from './queries.ts';

export type ReplacedPointers = {
  /** Of all the objects, as often as they are pointed to. */
  bytes: number;
  /** What the objects depend on: the project may get another one later. */
  identity: string;
  replacing: Replacing;
};

/** Undefined where none of the blobs points to an object that the project has. */
export async function replacedPointers(
  { database, blobs }: Needs<'database' | 'blobs'>,
  { id }: Pick<AuthorizedProject, 'id'>,
  git: GitFolder,
  files: readonly string[],
): Promise<ReplacedPointers | undefined> {
  const known = new Map<string, number>();
  let bytes = 0;
  for await (const pointers of readPointers(git, files)) {
    const oids = [...new Set(pointers.map(({ oid }) => oid))];
    for (const [oid, size] of await selectObjects(database.db, id, oids)) known.set(oid, size);
    for (const { oid } of pointers) bytes += known.get(oid) ?? 0;
  }
  if (known.size === 0) return undefined;
  return {
    bytes,
    identity: [...known.keys()].sort().join(),
    replacing: {
      sizes: POINTER_BYTES,
      async find(content) {
        const pointer = parsePointer(content);
        if (!pointer || !known.has(pointer.oid)) return undefined;
        return blobs.open(Buffer.from(pointer.oid, 'hex'));
      },
    },
  };
}
