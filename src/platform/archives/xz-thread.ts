/** The thread that unpacks xz, which is slower by far than what Node itself unpacks beside the event loop. */
import { parentPort } from 'node:worker_threads';
import { unpackXz } from './xz.ts';
import { ArchiveError } from './zip-file.ts';

export type XzToUnpack = { packed: Uint8Array; maximum: number };
export type UnpackedXz = { bytes: Uint8Array<ArrayBuffer> } | { refusal: string };

function unpack({ packed, maximum }: XzToUnpack): UnpackedXz {
  try {
    // A copy: what is not used of the output's memory would go with it.
    return {
      bytes: new Uint8Array(unpackXz(Buffer.from(packed.buffer, packed.byteOffset, packed.length), maximum)),
    };
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { refusal: error.message };
  }
}

parentPort?.on('message', (request: XzToUnpack) => {
  const unpacked = unpack(request);
  parentPort?.postMessage(unpacked, 'bytes' in unpacked ? [unpacked.bytes.buffer] : []);
});
