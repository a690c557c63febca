/**
 * Images of users, groups, projects, topics and metrics: files named by their digest, below the data folder.
 * The owner of an avatar stores `<file>/<name as uploaded>`, whose last part ends the public address, as
 * clients expect; the oldest store `<file>` alone.
 */
import { mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, invalid } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import type { UploadedFile } from '../../platform/http/parameters/raw-parameters.ts';
import { file, nullable } from '../../platform/http/parameters/schema.ts';
import { digest, randomHex } from '../../platform/secret.ts';
import { cleanName } from './upload-names.ts';

const MAX_AVATAR_BYTES = 200 * 1_024;

const contentTypes = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  ico: 'image/vnd.microsoft.icon',
  bmp: 'image/bmp',
} as const;
type ImageExtension = keyof typeof contentTypes;
/** Content types of images. */
export const pictureTypes: readonly string[] = Object.values(contentTypes);

/** An image in a body, for its description. */
export const pictureFile = (options: { description: string }) =>
  file({ ...options, contentTypes: pictureTypes });
/** An avatar parameter; null removes it. */
export const avatarFile = nullable(pictureFile({ description: 'A picture of at most 200 KiB.' }));

const signatures: [extension: ImageExtension, pattern: RegExp][] = [
  ['png', /^89504e470d0a1a0a/],
  ['jpg', /^ffd8ff/],
  ['gif', /^47494638(37|39)61/],
  ['webp', /^52494646.{8}57454250/],
  ['ico', /^00000100(?!0000)/],
  ['bmp', /^424d/],
];

/** The type of the image by its first bytes, whatever the client calls it; undefined for anything else. */
export function imageExtension(bytes: Buffer): ImageExtension | undefined {
  const start = bytes.toString('hex', 0, 12);
  return signatures.find(([, pattern]) => pattern.test(start))?.[0];
}

const NAME = /^([0-9a-f]{64})\.(png|jpg|gif|webp|ico|bmp)$/;

const fileOf = (dataFolder: string, name: string): { folder: string; file: string } => {
  const folder = join(dataFolder, 'uploads', name.slice(0, 2));
  return { folder, file: join(folder, name) };
};

/** Stores the image and returns the value for its owner's row. 400 for one that is too big or no image. */
export async function storeAvatar(dataFolder: string, upload: UploadedFile): Promise<string> {
  const { bytes } = upload;
  if (bytes.length > MAX_AVATAR_BYTES) throw invalid({ avatar: ['is too big (should be at most 200 KiB)'] });
  const name = await storePicture(dataFolder, bytes);
  if (name === undefined) {
    throw invalid({
      avatar: [
        `file format is not supported. Please try one of the following supported formats: ${pictureTypes.join(', ')}`,
      ],
    });
  }
  return `${name}/${cleanName(upload.filename)}`;
}

/** The last part of an avatar's public address. */
export const avatarFilename = (stored: string): string => stored.slice(stored.indexOf('/') + 1);

/** Stores an image under a name made of its digest, and returns the name; undefined for other files. */
export async function storePicture(dataFolder: string, bytes: Buffer): Promise<string | undefined> {
  const extension = imageExtension(bytes);
  if (extension === undefined) return undefined;
  const name = `${digest(bytes).toString('hex')}.${extension}`;
  const { folder, file } = fileOf(dataFolder, name);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeWhole(join(folder, `.${randomHex(16)}`), file, bytes);
    await syncFolder(folder);
  } catch (error) {
    throw diskFull(error) ?? error;
  }
  return name;
}

function diskFull(cause: unknown): Failure | undefined {
  const { code } = cause as NodeJS.ErrnoException; // what the file system throws
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return undefined;
  return new Failure('unavailable', '503 Service Unavailable: no space left on disk', { cause });
}

/** Writes a temporary file, syncs and renames it, so that no name ever has half a file. */
async function writeWhole(temporary: string, file: string, bytes: Buffer): Promise<void> {
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
    await handle.close();
    await rename(temporary, file);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * The image as a response in which browsers run no scripts; undefined when the file is missing. `stored` is
 * an avatar, or the file of another image.
 */
export async function readAvatar(dataFolder: string, stored: string): Promise<HttpResponse | undefined> {
  const [name = ''] = stored.split('/', 1);
  const extension = NAME.exec(name)?.[2] as ImageExtension | undefined; // the pattern admits these only
  if (extension === undefined) return undefined;
  const bytes = await readFile(fileOf(dataFolder, name).file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  return {
    status: 200,
    headers: {
      'content-type': contentTypes[extension],
      'content-disposition': 'inline',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, max-age=300, must-revalidate',
    },
    body: bytes,
  };
}
