/** Reads a zip file from the disk by ranges, many entries of its directory at a time. */
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import yauzl from 'yauzl';

/** Bytes that are read at once: a directory entry is about a hundred. */
const WINDOW_BYTES = 256 * 1_024;

type Reading = (error: Error | null, bytesRead?: number) => void;

export class WindowReader extends yauzl.RandomAccessReader {
  readonly #file: FileHandle;
  #window = Buffer.alloc(0);
  #start = 0;

  constructor(file: FileHandle) {
    super();
    this.#file = file;
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
    const { bytesRead } = await this.#file.read(window, 0, window.length, position);
    [this.#window, this.#start] = [window.subarray(0, bytesRead), position];
    return window.copy(target, offset, 0, Math.min(length, bytesRead));
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return this.#file.createReadStream({ start, end: end - 1, autoClose: false });
  }

  override close(done: (error: Error | null) => void): void {
    this.#file.close().then(() => done(null), done);
  }
}
