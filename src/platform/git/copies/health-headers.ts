/** Headers of git's files beside the objects (gitformat-commit-graph, gitformat-pack, gitformat-bitmap). Pure. */

export type CommitGraph = {
  chainLength: number;
  bloomFilters: boolean;
  generationData: boolean;
  generationOverflow: boolean;
};
export type Bitmap = { version: number; hashCache: boolean; lookupTable: boolean };
export type MultiPackIndex = { version: number; packs: number };

/** Bytes of an entry of the table of chunks: a name and a place. */
const CHUNK_BYTES = 12;
const COMMIT_GRAPH_HEADER = 8;

const startsWith = (header: Buffer, signature: string, bytes: number): boolean =>
  header.length >= bytes && header.toString('latin1', 0, 4) === signature;

/** Undefined for what is no commit graph. */
export function parseCommitGraph(header: Buffer, chainLength: number): CommitGraph | undefined {
  if (!startsWith(header, 'CGPH', COMMIT_GRAPH_HEADER)) return undefined;
  const chunks = new Set<string>();
  for (let place = 0; place < header.readUInt8(6); place += 1) {
    const at = COMMIT_GRAPH_HEADER + place * CHUNK_BYTES;
    chunks.add(header.toString('latin1', at, at + 4));
  }
  return {
    chainLength,
    bloomFilters: chunks.has('BIDX') && chunks.has('BDAT'),
    generationData: chunks.has('GDA2'),
    generationOverflow: chunks.has('GDO2'),
  };
}

const HASH_CACHE = 0x4;
const LOOKUP_TABLE = 0x10;

/** Undefined for what is no bitmap. */
export function parseBitmap(header: Buffer): Bitmap | undefined {
  if (!startsWith(header, 'BITM', 8)) return undefined;
  const flags = header.readUInt16BE(6);
  return {
    version: header.readUInt16BE(4),
    hashCache: (flags & HASH_CACHE) !== 0,
    lookupTable: (flags & LOOKUP_TABLE) !== 0,
  };
}

/** Undefined for what is no index of several packs. */
export const parseMultiPackIndex = (header: Buffer): MultiPackIndex | undefined =>
  startsWith(header, 'MIDX', 12)
    ? { version: header.readUInt8(4), packs: header.readUInt32BE(8) }
    : undefined;
