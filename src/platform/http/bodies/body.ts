/**
 * Reads a request's body as raw parameters, by its content type (spec: General request rules, 1), when the
 * handler needs it, after the credential: a small one into memory, a large one onto disk, so that slow
 * clients use no memory; large ones are parsed in a thread, one at a time.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { badRequest, Failure } from '../../failure.ts';
import { createShare } from '../../fair-share.ts';
import { randomHex } from '../../secret.ts';
import { createThreads } from '../../threads.ts';
import type { HttpRequest } from '../messages.ts';
import { JsonMeter } from '../parameters/json-meter.ts';
import {
  adoptParameters,
  decodeUtf8,
  emptyObject,
  MAX_FORM_PAIRS,
  parseJsonBody,
  parseUrlEncoded,
  type RawObject,
} from '../parameters/raw-parameters.ts';
import { eachPiece, joinPieces, tooLargeBody } from './body-stream.ts';
import type { BodyToParse, ParsedBody } from './body-thread.ts';
import { readMultipart } from './multipart.ts';

const KIBIBYTE = 1_024;
/** Bytes of a body that needs no slot. */
const MAX_SMALL_BYTES = 64 * KIBIBYTE;
/** Bytes of an arriving body that stay in memory. */
const MAX_HELD_BYTES = 1_024 * KIBIBYTE;
/** Bytes, or names and values, that are parsed in a few milliseconds. */
const MAX_PARSED_BYTES = MAX_HELD_BYTES;
const MAX_PARSED_VALUES = 10_000;
const PARSE_TIMEOUT_MS = 30_000;

const waits = { waitingPerCaller: 32, waiting: 500, timeoutMs: 10_000 };
/** Slots of bodies that are not small, from their first byte to the end of the request. */
const arriving = createShare({ of: 'large request bodies', places: 64, perCaller: 16, ...waits });
/**
 * The slot of bodies on disk, from their last byte to the end of the request: parsed, they take several times
 * their size.
 */
const unfolding = createShare({ of: 'large request bodies', places: 1, perCaller: 1, ...waits });
const parsers = createThreads<BodyToParse, ParsedBody>({
  file: new URL(`./body-thread${extname(import.meta.url)}`, import.meta.url),
  share: { of: 'large request bodies', places: 1, perCaller: 1, ...waits },
  // Text, parsed values and message of a body of the largest limit.
  memoryMb: 256,
  // A parsed body leaves several times its size in the thread's heap.
  idleMs: 0,
});

type BodyType = 'json' | 'form' | 'multipart';

function typeOf({ headers }: HttpRequest): BodyType {
  const type = headers['content-type']?.toString().split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  throw new Failure('unsupported_media_type', '415 Unsupported Media Type', {
    errorDescription:
      'Send JSON with the header Content-Type: application/json, or a form with application/x-www-form-urlencoded or multipart/form-data',
  });
}

/** Bytes by Content-Length: 0 without a body, undefined for a chunked one. */
function announcedLength({ headers }: HttpRequest): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

const jsonAsForm = new WeakSet<HttpRequest>();

/** Whether a body sent as a form looks like JSON: curl's default type is the form's. */
export const isJsonReadAsForm = (request: HttpRequest): boolean => jsonAsForm.has(request);

const read = new WeakMap<HttpRequest, Promise<RawObject>>();

/**
 * The parameters of the body; none when it is empty. 413 beyond the route's limit, 415 for an unknown type,
 * 400 for a malformed body. It is read once; later calls get the same result.
 */
export function readBody(request: HttpRequest): Promise<RawObject> {
  const known = read.get(request);
  if (known) return known;
  const reading =
    announcedLength(request) === 0 ? Promise.resolve(emptyObject()) : discardAfterFailure(request, readNew);
  read.set(request, reading);
  return reading;
}

/** The bytes of a small body, for routes with their own format. 413 beyond the route's limit. */
export async function readBytes(request: HttpRequest): Promise<Buffer> {
  if (announcedLength(request) === 0) return Buffer.alloc(0);
  return discardAfterFailure(request, async () => {
    refuseAnnounced(request);
    const pieces: Buffer[] = [];
    await eachPiece(
      request.bodyStream,
      bounded(request, (piece) => pieces.push(piece)),
    );
    return joinPieces(pieces);
  });
}

/**
 * Many clients read no response before they have sent all: the rest of a refused body is read and dropped.
 */
async function discardAfterFailure<T>(
  request: HttpRequest,
  work: (request: HttpRequest) => Promise<T>,
): Promise<T> {
  try {
    return await work(request);
  } catch (error) {
    request.bodyStream.resume();
    throw error;
  }
}

function refuseAnnounced(request: HttpRequest): void {
  if ((announcedLength(request) ?? 0) > request.bodyLimit) throw tooLargeBody();
}

/** Passes pieces to `take` up to the route's limit. */
function bounded({ bodyLimit }: HttpRequest, take: (piece: Buffer) => void): (piece: Buffer) => void {
  let length = 0;
  return (piece) => {
    length += piece.length;
    if (length > bodyLimit) throw tooLargeBody();
    take(piece);
  };
}

/**
 * Reserves a slot for a body that is not small, until the end of the request; for routes that read it
 * themselves.
 */
export async function reserveBody(request: HttpRequest): Promise<void> {
  if ((announcedLength(request) ?? request.bodyLimit) > MAX_SMALL_BYTES)
    request.atEnd(await arriving.take(request.signal));
}

async function readNew(request: HttpRequest): Promise<RawObject> {
  refuseAnnounced(request);
  const announced = announcedLength(request);
  const type = announced === undefined ? undefined : typeOf(request);
  const length = announced ?? request.bodyLimit;
  await reserveBody(request);
  const meter = createMeter(type ?? typeIfAny(request));
  if (length > MAX_HELD_BYTES) return readLarge(request, meter);
  const pieces: Buffer[] = [];
  const take = (piece: Buffer): void => {
    meter.push(piece);
    pieces.push(piece);
  };
  await eachPiece(request.bodyStream, bounded(request, take));
  return parseHeld(request, pieces, meter);
}

/** The body's type; undefined without a Content-Type, which an empty body need not have. */
function typeIfAny(request: HttpRequest): BodyType | undefined {
  return request.headers['content-type'] === undefined ? undefined : typeOf(request);
}

type Meter = { push(piece: Buffer): void; values(): number };

const AMPERSAND = 0x26;

/** Counts names and values, and refuses too many while the body arrives. */
function createMeter(type: BodyType | undefined): Meter {
  if (type === 'json') {
    const json = new JsonMeter(MAX_FORM_PAIRS);
    return { push: (piece) => json.push(piece), values: () => json.values };
  }
  let values = 0;
  return {
    push(piece) {
      if (type !== 'form') return;
      for (let at = piece.indexOf(AMPERSAND); at >= 0; at = piece.indexOf(AMPERSAND, at + 1)) values += 1;
      if (values > MAX_FORM_PAIRS) throw badRequest(`more than ${MAX_FORM_PAIRS} parameters`);
    },
    values: () => values,
  };
}

/** The route's limit bounds the body, so its parts need no limits of their own. */
const partLimits = ({ bodyLimit }: HttpRequest) => ({
  fieldBytes: bodyLimit,
  fileBytes: bodyLimit,
  bodyBytes: bodyLimit,
});

async function parseHeld(request: HttpRequest, pieces: readonly Buffer[], meter: Meter): Promise<RawObject> {
  if (pieces.length === 0) return emptyObject();
  const type = typeOf(request);
  if (type === 'multipart') return readMultipart(Readable.from(pieces), request.headers, partLimits(request));
  const bytes = joinPieces(pieces);
  if (bytes.length > MAX_PARSED_BYTES || meter.values() > MAX_PARSED_VALUES) {
    // A copy: the transfer of a pooled buffer would take the pool with it.
    const source = new Uint8Array(bytes);
    return parseInThread({ form: type === 'form', source }, [source.buffer]);
  }
  const text = decodeUtf8(bytes);
  if (type !== 'form') return parseJsonBody(text);
  if (/^\s*[{[]/.test(text)) jsonAsForm.add(request);
  return parseUrlEncoded(text);
}

async function parseInThread(request: BodyToParse, transfer: ArrayBuffer[] = []): Promise<RawObject> {
  const response = await parsers.ask(request, PARSE_TIMEOUT_MS, transfer);
  if (!response) throw badRequest('the body could not be read in time');
  if ('refusal' in response) throw new Failure('bad_request', response.refusal);
  return adoptParameters(response.parsed);
}

/** Reads into memory up to a bound, beyond it into an unlinked file, which ends with the process. */
async function readLarge(request: HttpRequest, meter: Meter): Promise<RawObject> {
  const pieces: Buffer[] = [];
  let length = 0;
  let file: FileHandle | undefined;
  const check = bounded(request, (piece) => meter.push(piece));
  try {
    for await (const piece of request.bodyStream.iterator({ destroyOnReturn: false })) {
      check(piece);
      length += piece.length;
      pieces.push(piece);
      if (length <= MAX_HELD_BYTES) continue;
      file ??= await openNameless();
      for (const each of pieces.splice(0)) await file.write(each);
    }
    if (!file) return await parseHeld(request, pieces, meter);
    request.atEnd(await unfolding.take(request.signal));
    return await parseFile(request, { descriptor: file.fd, size: length });
  } finally {
    await file?.close();
  }
}

function parseFile(request: HttpRequest, source: { descriptor: number; size: number }): Promise<RawObject> {
  const type = typeOf(request);
  if (type !== 'multipart') return parseInThread({ form: type === 'form', source });
  const stream = createReadStream('', { fd: source.descriptor, start: 0, autoClose: false });
  return readMultipart(stream, request.headers, partLimits(request));
}

async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `ashlar-body-${randomHex(8)}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}
