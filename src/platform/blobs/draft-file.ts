/** The file of a draft: what arrives fast is gathered while the disk is at work, and synced while more arrives. */
import type { FileHandle } from 'node:fs/promises';
import { dropPieces } from '../machine/memory.ts';
import { diskFailure } from './blob-files.ts';

/** Gathered at most: a slow client's pieces are written at once, so that it holds none. */
const MAX_GATHERED_BYTES = 1_048_576;
/** Synced in the midst of it: the last sync finds little to do then. */
const SYNC_BYTES = 16 * 1_048_576;

export type DraftFile = {
  /** Resolves when there is room for the next piece. 503 on a full disk, with this piece or a later one. */
  write(piece: Buffer): Promise<void>;
  /** Resolves when all that came is in the file, where others may read it. */
  flush(): Promise<void>;
  /** The same, and synced. */
  sync(): Promise<void>;
  close(): Promise<void>;
};

export function openDraftFile(handle: FileHandle): DraftFile {
  let gathered: Buffer[] = [];
  let gatheredBytes = 0;
  let unsynced = 0;
  let writing: Promise<void> | undefined;
  let syncing: Promise<void> | undefined;
  let failure: unknown;

  async function writePieces(pieces: readonly Buffer[], bytes: number): Promise<void> {
    const { bytesWritten } = await handle.writev(pieces);
    // On a disk that is getting full; the rest says what is wrong.
    if (bytesWritten < bytes) await handle.writeFile(Buffer.concat(pieces).subarray(bytesWritten));
    unsynced += bytes;
    dropPieces(bytes);
  }

  function syncEarly(): void {
    if (unsynced < SYNC_BYTES || syncing) return;
    unsynced = 0;
    syncing = handle
      .datasync()
      .catch((error: unknown) => {
        // It is told once: the last sync would not know.
        failure ??= diskFailure(error);
      })
      .finally(() => {
        syncing = undefined;
      });
  }

  async function writeGathered(): Promise<void> {
    try {
      while (gatheredBytes > 0) {
        const [pieces, bytes] = [gathered, gatheredBytes];
        gathered = [];
        gatheredBytes = 0;
        await writePieces(pieces, bytes);
        syncEarly();
      }
    } catch (error) {
      failure = diskFailure(error);
    } finally {
      writing = undefined;
    }
  }

  async function flush(): Promise<void> {
    await writing;
    if (failure) throw failure;
  }

  return {
    flush,
    async write(piece) {
      gathered.push(piece);
      gatheredBytes += piece.length;
      writing ??= writeGathered();
      if (gatheredBytes >= MAX_GATHERED_BYTES) await writing;
      if (failure) throw failure;
    },
    async sync() {
      await flush();
      await syncing;
      if (failure) throw failure;
      await handle.sync().catch((error: unknown) => {
        throw diskFailure(error);
      });
    },
    async close() {
      await writing;
      await syncing;
      await handle.close();
    },
  };
}
