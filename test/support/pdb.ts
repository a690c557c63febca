/** Portable PDBs as tests need them: the head as compilers write it, and bytes behind it. */

export type PdbContent = {
  /** 16 bytes in the order of the file, and the four behind them. */
  guid: Buffer;
  stamp?: Buffer;
  rest?: Buffer;
  /** The name of the stream that has the id. */
  stream?: string;
};

const VERSION = Buffer.from('PDB v1.0\0\0\0\0');

const padded = (name: string): Buffer => {
  const bytes = Buffer.alloc(Math.ceil((name.length + 1) / 4) * 4);
  bytes.write(name, 'latin1');
  return bytes;
};

export function pdbOf({
  guid,
  stamp = Buffer.alloc(4, 7),
  rest = Buffer.alloc(0),
  stream = '#Pdb',
}: PdbContent): Buffer {
  const names = [padded('#~'), padded(stream)];
  const offset = 32 + names.reduce((length, name) => length + 8 + name.length, 0);
  const headers = names.map((name) => {
    const header = Buffer.alloc(8);
    header.writeUInt32LE(offset, 0);
    header.writeUInt32LE(32, 4);
    return Buffer.concat([header, name]);
  });
  const start = Buffer.alloc(16);
  start.write('BSJB');
  start.writeUInt16LE(1, 4);
  start.writeUInt16LE(1, 6);
  start.writeUInt32LE(VERSION.length, 12);
  const count = Buffer.from([0, 0, names.length, 0]);
  return Buffer.concat([start, VERSION, count, ...headers, guid, stamp, Buffer.alloc(12), rest]);
}
