/** What a portable PDB says of itself in its first bytes (ECMA-335, II.24.2, and the format's own stream `#Pdb`). Pure. */

const MAGIC = 0x424a5342;
/** Of the name of a stream, with the zero that ends it. */
const MAX_NAME = 32;
const ID_BYTES = 20;
/** There is no stream whose header lies beyond them. */
export const HEAD_BYTES = 4_096;

/** Where the name that begins there ends, with zeros up to the next multiple of four. */
function endOfName(head: Buffer, start: number): number | undefined {
  const zero = head.subarray(start, start + MAX_NAME).indexOf(0);
  return zero === -1 ? undefined : start + (zero + 4 - (zero % 4));
}

/** Where the id of the PDB is in its first bytes; undefined for what is no portable PDB. */
function idOffset(head: Buffer): number | undefined {
  if (head.length < 20 || head.readUInt32LE(0) !== MAGIC) return undefined;
  const versionLength = head.readUInt32LE(12);
  const counted = 16 + versionLength + 2;
  if (versionLength > 255 || counted + 2 > head.length) return undefined;
  let at = counted + 2;
  for (let left = head.readUInt16LE(counted); left > 0; left -= 1) {
    if (at + 8 > head.length) return undefined;
    const end = endOfName(head, at + 8);
    if (end === undefined) return undefined;
    const [offset, size] = [head.readUInt32LE(at), head.readUInt32LE(at + 4)];
    if (head.toString('latin1', at + 8, head.indexOf(0, at + 8)) === '#Pdb')
      return size >= ID_BYTES && offset + ID_BYTES <= head.length ? offset : undefined;
    at = end;
  }
  return undefined;
}

/** As debuggers write it in addresses: a GUID without hyphens, and the age that portable PDBs have. */
const signatureOf = (guid: Buffer): string => {
  const number = (from: number, to: number) => guid.subarray(from, to).toReversed();
  const bytes = [number(0, 4), number(4, 6), number(6, 8), guid.subarray(8, 16)];
  return `${bytes.map((part) => Buffer.from(part).toString('hex')).join('')}FFFFFFFF`;
};

export type PdbHead = {
  signature: string;
  /** The same bytes with zeros in the place of the id: so they are counted by the checksum. */
  blank: Buffer;
};

/** Of the first bytes of a file, HEAD_BYTES of them or all; undefined for what is no portable PDB. */
export function readPdbHead(head: Buffer): PdbHead | undefined {
  const offset = idOffset(head);
  if (offset === undefined) return undefined;
  const blank = Buffer.from(head).fill(0, offset, offset + ID_BYTES);
  return { signature: signatureOf(head.subarray(offset, offset + 16)), blank };
}

const AGE = /f{8}$/i;

/** How a signature of an address is kept: its case does not matter. */
export const spelledSignature = (text: string): string => text.toLowerCase().replace(AGE, 'FFFFFFFF');

const MAX_CHECKSUMS = 10;

/** The SHA-256 in a header `SymbolChecksum`, which may have other algorithms, too. */
export const checksumsOf = (header: string): Buffer[] =>
  Array.from(header.matchAll(/\bSHA256:([0-9a-f]{64})(?![0-9a-f])/gi), ([, hex = '']) => hex)
    .slice(0, MAX_CHECKSUMS)
    .map((hex) => Buffer.from(hex, 'hex'));
