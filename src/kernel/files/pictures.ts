/**
 * Images of users, groups, projects, topics and metrics: blobs, each with its row's `<digest>.<type>`.
 * The owner of an avatar stores `<file>/<name as uploaded>`, whose last part ends the public address, as
 * clients expect; the oldest store `<file>` alone.
 */
import { buffer } from 'node:stream/consumers';
import type { Blobs } from '../../platform/blobs/blobs.ts';
import type { Db } from '../../platform/db/database.ts';
import { invalid } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import type { UploadedFile } from '../../platform/http/parameters/raw-parameters.ts';
import { file, nullable } from '../../platform/http/parameters/schema.ts';
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

/** An image that is to be kept. */
export type NewPicture = {
  /** In the transaction of its owner's row, before that row: the value for it. */
  keep(tx: Db): Promise<string>;
};

/** Undefined for other files than images. */
export function newPicture(
  blobs: Pick<Blobs, 'keepBytes'>,
  bytes: Buffer,
  ending = '',
): NewPicture | undefined {
  const extension = imageExtension(bytes);
  if (extension === undefined) return undefined;
  return {
    keep: async (tx) => `${(await blobs.keepBytes(tx, bytes)).toString('hex')}.${extension}${ending}`,
  };
}

/** What a change says of an avatar: null removes it, undefined leaves it. */
export type AvatarChange = NewPicture | null | undefined;

/** The avatar in a body; 400 for one that is too big or no image. */
export function avatarChange(
  { blobs }: { blobs: Pick<Blobs, 'keepBytes'> },
  upload: UploadedFile | null | undefined,
): AvatarChange {
  if (!upload) return upload;
  if (upload.bytes.length > MAX_AVATAR_BYTES)
    throw invalid({ avatar: ['is too big (should be at most 200 KiB)'] });
  const picture = newPicture(blobs, upload.bytes, `/${cleanName(upload.filename)}`);
  if (picture) return picture;
  throw invalid({
    avatar: [
      `file format is not supported. Please try one of the following supported formats: ${pictureTypes.join(', ')}`,
    ],
  });
}

/** The value for the row, in its transaction, before it; undefined leaves it. */
export const keepAvatar = async (tx: Db, change: AvatarChange): Promise<string | null | undefined> =>
  change ? change.keep(tx) : change;

/** The last part of an avatar's public address. */
export const avatarFilename = (stored: string): string => stored.slice(stored.indexOf('/') + 1);

/**
 * The image as a response in which browsers run no scripts; undefined when the file is missing. `stored` is
 * an avatar, or the file of another image.
 */
export async function readAvatar(
  { blobs }: { blobs: Pick<Blobs, 'open'> },
  stored: string,
): Promise<HttpResponse | undefined> {
  const [name = ''] = stored.split('/', 1);
  const [, sha256, extension] = NAME.exec(name) ?? [];
  if (sha256 === undefined || extension === undefined) return undefined;
  const blob = await blobs.open(Buffer.from(sha256, 'hex'));
  if (!blob) return undefined;
  return {
    status: 200,
    headers: {
      'content-type': contentTypes[extension as ImageExtension], // the pattern admits these only
      'content-disposition': 'inline',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, max-age=300, must-revalidate',
    },
    body: await buffer(blob.stream()),
  };
}
