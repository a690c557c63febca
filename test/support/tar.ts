/** Small tar files for tests, with headers as wrong as a test wants them. */
export type TarEntry = {
  name: string;
  content?: string;
  prefix?: string;
  type?: string;
  /** Instead of the true ones, as they stand in the header. */
  size?: string;
  sum?: string;
};

function header({ name, content = '', prefix = '', type = '0', size, sum }: TarEntry): Buffer {
  const block = Buffer.alloc(512);
  block.write(name, 0, 100);
  block.write(size ?? Buffer.byteLength(content).toString(8).padStart(11, '0'), 124, 12);
  block.write(type, 156, 1);
  block.write('ustar\x0000', 257);
  block.write(prefix, 345, 155);
  block.write('        ', 148);
  const bytes = block.reduce((all, byte) => all + byte, 0);
  block.write(sum ?? `${bytes.toString(8).padStart(6, '0')}\0 `, 148, 8);
  return block;
}

/** Without its end. */
export const tarEntries = (...entries: TarEntry[]): Buffer =>
  Buffer.concat(
    entries.flatMap((entry) => {
      const content = Buffer.from(entry.content ?? '');
      return [header(entry), content, Buffer.alloc(-content.length & 511)];
    }),
  );

export const tarFile = (...entries: TarEntry[]): Buffer =>
  Buffer.concat([tarEntries(...entries), Buffer.alloc(1_024)]);
