/** Makes a zip file while it is sent, the same bytes for the same files. */
import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';

const deflate = promisify(deflateRaw);

/** Files in one: its headers have no larger numbers, and none for more than 4 GiB. */
export const MAX_ZIP_ENTRIES = 65_535;

const VERSION = 20;
const UTF8 = 0x800;
const DEFLATED = 8;
/** The first day that the format knows. */
const DATE = 0x21;

type ZipInput = { name: string; content: Buffer };

function headerOf({ name, content }: ZipInput, packed: Buffer): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(VERSION, 0);
  header.writeUInt16LE(UTF8, 2);
  header.writeUInt16LE(DEFLATED, 4);
  header.writeUInt16LE(DATE, 8);
  header.writeUInt32LE(crc32(content), 10);
  header.writeUInt32LE(packed.length, 14);
  header.writeUInt32LE(content.length, 18);
  header.writeUInt16LE(Buffer.byteLength(name), 22);
  return header;
}

/** The pieces of the archive; the caller sees to its bounds. */
export async function* zipPieces(files: AsyncIterable<ZipInput>): AsyncGenerator<Buffer, void> {
  const directory: Buffer[] = [];
  let offset = 0;
  let count = 0;
  for await (const file of files) {
    const packed = await deflate(file.content);
    const header = headerOf(file, packed);
    const name = Buffer.from(file.name);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), header, rest, name);
    const pieces = Buffer.concat([Buffer.from('PK\x03\x04'), header, name, packed]);
    offset += pieces.length;
    count += 1;
    yield pieces;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  yield Buffer.concat([listed, end]);
}
