/** Reads a zip file by ranges, many entries of its directory at a time. */
import { Readable } from 'node:stream';
import yauzl from 'yauzl';
import type { OpenBlob } from '../blobs/blob-store.ts';

/** Bytes that are read at once: a directory entry is about a hundred. */
const WINDOW_BYTES = 256 * 1_024;
/** Of a file in the archive. */
const PIECE_BYTES = 64 * 1_024;

type Reading = (error: Error | null, bytesRead?: number) => void;

export class WindowReader extends yauzl.RandomAccessReader {
  readonly #archive: OpenBlob;
  #window = Buffer.alloc(0);
  #start = 0;

  constructor(archive: OpenBlob) {
    super();
    this.#archive = archive;
  }

  override read(target: Buffer, offset: number, length: number, position: number, done: Reading): void {
    const from = position - this.#start;
    if (from >= 0 && from + length <= this.#window.length) {
      this.#window.copy(target, offset, from, from + length);
      done(null, length);
    } else void this.#readWindow(target, offset, length, position).then((read) => done(null, read), done);
  }

  async #readWindow(target: Buffer, offset: number, length: number, position: number): Promise<number> {
    if (!Number.isSafeInteger(position)) throw new Error('an offset beyond the end of the file');
    const window = Buffer.allocUnsafe(Math.max(length, WINDOW_BYTES));
    const bytesRead = await this.#archive.read(window, position);
    [this.#window, this.#start] = [window.subarray(0, bytesRead), position];
    return window.copy(target, offset, 0, Math.min(length, bytesRead));
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#pieces(start, end), { objectMode: false });
  }

  async *#pieces(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at < end; ) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - at));
      const bytesRead = await this.#archive.read(piece, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  }

  override close(done: (error: Error | null) => void): void {
    this.#archive.close().then(() => done(null), done);
  }
}
