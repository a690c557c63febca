/** A history as `git fast-import` reads it: 20,000 commits over 10,000 files, the same each time. */

export const HISTORY = { commits: 20_000, files: 10_000 } as const;

const START = 1_600_000_000;
const authors = [
  'Ada Lovelace <ada@example.com>',
  'Grace Hopper <grace@example.com>',
  'Alan Turing <alan@example.com>',
];

/** Twenty-five folders of twenty folders of twenty files. */
const pathOf = (file: number): string =>
  `area-${file % 25}/part-${Math.floor(file / 25) % 20}/file-${Math.floor(file / 500)}.txt`;

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

/** The stream, in pieces of a hundred commits; every tenth commit is a merge of a short side branch. */
export function* historyStream(
  { commits, files } = HISTORY as { commits: number; files: number },
): Generator<string> {
  let piece = '';
  for (let number = 1; number <= commits; number++) {
    const who = `${authors[number % authors.length]} ${START + number * 60} +0000`;
    const file = (number - 1) % files;
    const text = Array.from(
      { length: 20 },
      (_, line) => `line ${line} of file ${file}, as commit ${number} has it`,
    ).join('\n');
    const side = number % 10 === 5;
    const merge = number % 10 === 0;
    piece += `commit refs/heads/${side ? 'side' : 'main'}\nmark :${number}\nauthor ${who}\ncommitter ${who}\n`;
    piece += data(`Change file ${file}\n\nThis is commit ${number}.\n`);
    if (side) piece += `from :${number - 1}\n`;
    // The side branch stands five commits back; the one before is the main line's.
    else if (number > 1) piece += `from :${number % 10 === 6 ? number - 2 : number - 1}\n`;
    if (merge) piece += `merge :${number - 5}\n`;
    piece += `M 100644 inline ${pathOf(file)}\n${data(text)}`;
    // A merge takes over the side branch's change.
    if (merge)
      piece += `M 100644 inline ${pathOf((number - 6) % files)}\n${data(`from the side, as commit ${number - 5} has it`)}`;
    if (number % 100 !== 0) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
