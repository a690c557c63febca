/** Files of archives: uploads, large files, the picture. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { newPicture } from '../../../kernel/files/pictures.ts';
import { cleanName } from '../../../kernel/files/upload-names.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Received } from '../../../platform/blobs/blobs.ts';
import type { Db } from '../../../platform/db/database.ts';
import { randomHex } from '../../../platform/secret.ts';
import type { Unpacked, UnpackedFile } from '../archive/unpack.ts';
import { insertLargeObject, insertUpload, takenSecrets } from './actions.ts';
import type { Report } from './report.ts';

/** Keeps the bytes of a file, in the transaction of the row that names them. */
async function keepFile(
  { blobs }: Needs<'blobs'>,
  tx: Db,
  { path }: UnpackedFile,
  isRight: (received: Received) => boolean = () => true,
): Promise<Received | undefined> {
  const draft = await blobs.draft();
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) await draft.write(piece);
    const received = await draft.finish();
    if (!isRight(received)) return undefined;
    await draft.keep(tx);
    return received;
  } finally {
    await draft.discard();
  }
}

const uploadName = /^uploads\/([0-9a-f]{32})\/(.+)$/;

/** The addresses of uploads here, by those in the archive: other projects of this instance may have the same files. */
export async function newSecrets(
  db: Db,
  projectId: number,
  { files }: Unpacked,
): Promise<Map<string, string>> {
  const secrets = [...new Set([...files.keys()].flatMap((name) => uploadName.exec(name)?.[1] ?? []))];
  const taken = await takenSecrets(db, projectId, secrets);
  return new Map(secrets.map((secret) => [secret, taken.has(secret) ? randomHex(16) : secret]));
}

const address = /\/uploads\/([0-9a-f]{32})\//g;

/** Gives a text the addresses of uploads that are here. */
export const rewriter =
  (secrets: ReadonlyMap<string, string>) =>
  (text: string): string =>
    text.includes('/uploads/')
      ? text.replaceAll(address, (whole, secret: string) =>
          whole.replace(secret, secrets.get(secret) ?? secret),
        )
      : text;

export async function importUploads(
  services: Needs<'blobs'>,
  tx: Db,
  to: { projectId: number; userId: number },
  { files }: Unpacked,
  secrets: ReadonlyMap<string, string>,
  report: Report,
): Promise<void> {
  const seen = new Set<string>();
  for (const [name, file] of files) {
    const [, secret = '', filename = ''] = uploadName.exec(name) ?? [];
    const here = secrets.get(secret);
    if (here === undefined) continue;
    if (seen.has(secret)) {
      report.fail({ relation: 'uploads', line: null, message: 'has a second file at one address' });
      continue;
    }
    seen.add(secret);
    const received = await keepFile(services, tx, file);
    if (received)
      await insertUpload(tx, {
        ...{ project_id: to.projectId, uploader_id: to.userId, secret: here, filename: cleanName(filename) },
        ...{ size: received.size, sha256: received.sha256 },
      });
  }
}

export const largeObjectName = /^lfs-objects\/([0-9a-f]{64})$/;

/** Large files whose bytes are what their names say. */
export async function importLargeObjects(
  services: Needs<'blobs'>,
  tx: Db,
  projectId: number,
  { files }: Unpacked,
  report: Report,
): Promise<void> {
  for (const [name, file] of files) {
    const oid = largeObjectName.exec(name)?.[1];
    if (oid === undefined) continue;
    const received = await keepFile(services, tx, file, ({ sha256 }) => sha256.toString('hex') === oid);
    if (received)
      await insertLargeObject(tx, { project_id: projectId, sha256: received.sha256, size: received.size });
    else
      report.fail({
        relation: 'lfs_objects',
        line: null,
        message: `${oid} has other bytes than its name says`,
      });
  }
}

const MAX_AVATAR_BYTES = 200 * 1_024;

/** The picture for the row; undefined where there is none. */
export async function importAvatar(
  { blobs }: Needs<'blobs'>,
  tx: Db,
  { files }: Unpacked,
  report: Report,
): Promise<string | undefined> {
  const [found] = [...files].filter(([name]) => name.startsWith('avatar/'));
  if (!found) return undefined;
  const [name, { path, size }] = found;
  const picture =
    size <= MAX_AVATAR_BYTES
      ? newPicture(blobs, await readFile(path), `/${cleanName(name.slice('avatar/'.length))}`)
      : undefined;
  if (!picture) report.fail({ relation: 'avatar', line: null, message: 'is too large, or no picture' });
  return picture?.keep(tx);
}
