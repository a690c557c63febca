/** Pointers: the texts that stand in a repository for large files (Git LFS: docs/spec.md). Pure. */

/** An object of Git LFS: its id is the SHA-256 of its bytes, in lower-case hexadecimal digits. */
export type LargeObject = { oid: string; size: number };

/** Bytes that a pointer has. */
export const POINTER_BYTES = { least: 120, most: 1_024 } as const;

export const isOid = (text: unknown): text is string =>
  typeof text === 'string' && /^[0-9a-f]{64}$/.test(text);

export const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Keys are sorted, but for the first; extensions of clients stand between. Programs read one whose last line has no end, too. */
const pattern =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-[0-9]-[^ \n]+ [^\n]+\n)*oid sha256:(?<oid>[0-9a-f]{64})\nsize (?<size>[0-9]{1,16})\n*$/;

/** Undefined for the content of a file that is no pointer. */
export function parsePointer(content: Buffer): LargeObject | undefined {
  if (content.length < POINTER_BYTES.least || content.length > POINTER_BYTES.most) return undefined;
  const { oid, size } = pattern.exec(content.toString('latin1'))?.groups ?? {};
  return oid !== undefined && isSize(Number(size)) ? { oid, size: Number(size) } : undefined;
}
