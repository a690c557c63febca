/** A commit that is made again elsewhere, in its author's name. Pure. */
import { type Commit, type NewObject, newObject, writeSignature } from '../parse.ts';

/** The text in UTF-8, where its encoding is named; undefined where nobody here knows that. */
function inUtf8(text: Buffer, encoding: string | undefined): Buffer | undefined {
  try {
    return encoding === undefined
      ? text
      : Buffer.from(new TextDecoder(encoding).decode(text).replaceAll('\0', ''));
  } catch {
    return undefined;
  }
}

/**
 * The commit with this content again, elsewhere: its author and message stay, byte by byte, or in UTF-8 where
 * they had a known encoding. Its signature goes, which would not fit.
 */
export function rewrittenCommit(
  content: Buffer,
  { tree, parents, committer }: Pick<Commit, 'tree' | 'parents' | 'committer'>,
): NewObject {
  const end = content.indexOf('\n\n');
  const head = content.toString('latin1', 0, end < 0 ? content.length : end).split('\n');
  const lineOf = (name: string) => head.find((line) => line.startsWith(`${name} `));
  const encoding = lineOf('encoding')?.slice('encoding '.length);
  const author = Buffer.from(lineOf('author') ?? 'author  <> 0 +0000', 'latin1');
  const message = end < 0 ? Buffer.alloc(0) : content.subarray(end + 2);
  const [known, text] = [inUtf8(author, encoding), inUtf8(message, encoding)];
  const lines = Buffer.from([`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), ''].join('\n'));
  const unknown = encoding !== undefined && text === undefined ? `encoding ${encoding}\n` : '';
  return newObject(
    'commit',
    Buffer.concat([
      lines,
      // The line itself is ASCII, which is something else in UTF-16.
      known?.indexOf('author ') === 0 ? known : author,
      Buffer.from(`\ncommitter ${writeSignature(committer)}\n${unknown}\n`),
      text ?? message,
    ]),
  );
}
