/** Requests and responses of pushes, as bytes and as values. Pure (gitprotocol-pack, "Pushing data to a server"). */
import { isObjectId } from '../../../platform/git/names.ts';
import {
  BadPktLine,
  DATA,
  FLUSH,
  inBand,
  type PktLine,
  PktLineReader,
  PROGRESS,
  pktLine,
} from '../../../platform/git/program/pkt-line.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';

export type PushCommands = {
  updates: RefUpdate[];
  capabilities: ReadonlySet<string>;
  /** The texts behind `-o`. */
  options: string[];
};

const MAX_UPDATES = 100_000;
const MAX_OPTIONS = 1_000;
const MAX_BYTES = 32 * 1_048_576;

const text = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Buffer): string {
  try {
    return text.decode(bytes);
  } catch {
    throw new BadPktLine('a name of a ref is not UTF-8');
  }
}

/** The command in a line, `<before> <after> <ref>`. */
function readCommand(line: string): RefUpdate {
  const [before = '', after = '', ...rest] = line.replace(/\n$/, '').split(' ');
  if (!isObjectId(before) || !isObjectId(after) || rest.length !== 1)
    throw new BadPktLine('a line of the push is no command');
  return { before, after, ref: rest.join(' ') };
}

/** Reads the commands before the pack. Bytes are pushed until the commands come back; throws BadPktLine for no push. */
export class CommandReader {
  readonly #lines = new PktLineReader();
  readonly #updates: RefUpdate[] = [];
  readonly #chunks: Buffer[] = [];
  readonly #options: string[] = [];
  #capabilities: ReadonlySet<string> | undefined;
  #bytes = 0;
  #flushes = 0;

  /** The commands, once they are whole. */
  push(chunk: Buffer): PushCommands | undefined {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    for (const line of this.#lines.push(chunk)) {
      if (line.payload) this.#read(line.payload);
      else this.#flushes += 1;
      const capabilities = this.#capabilities ?? new Set<string>();
      // Options of the push stand between the commands and the pack.
      if (this.#flushes === (capabilities.has('push-options') ? 2 : 1))
        return { updates: this.#updates, capabilities, options: this.#options };
    }
    if (this.#bytes > MAX_BYTES) throw new BadPktLine('the list of refs in the push is too long');
    return undefined;
  }

  #read(payload: Buffer): void {
    if (this.#flushes > 0) {
      if (this.#options.push(payload.toString('utf8').replace(/\n$/, '')) > MAX_OPTIONS)
        throw new BadPktLine(`a push can have ${MAX_OPTIONS} options at most`);
      return;
    }
    const nul = payload.indexOf(0);
    const line = decode(nul < 0 ? payload : payload.subarray(0, nul));
    if (line.startsWith('shallow ')) return;
    if (line.startsWith('push-cert')) throw new BadPktLine('signed pushes are not supported');
    if (nul >= 0) {
      const text = payload.toString('latin1', nul + 1);
      // git would read such lists in another way than we do, and we would misread its report.
      if (this.#capabilities || this.#updates.length > 0 || !/^[\x20-\x7e]*\n?$/.test(text))
        throw new BadPktLine('its list of capabilities is strange');
      this.#capabilities = new Set(text.trim().split(/ +/));
    }
    if (this.#updates.push(readCommand(line)) > MAX_UPDATES)
      throw new BadPktLine(`a push can change ${MAX_UPDATES} refs at most`);
  }

  /** All bytes so far, those behind the commands too. */
  get taken(): readonly Buffer[] {
    return this.#chunks;
  }
}

/** The reason of each refusal, by the ref's name. */
export type Refusals = ReadonlyMap<string, string>;

/** The report on a push of which nothing was written, since some of its refs were refused. */
export function refusalReport(
  { updates, capabilities }: Pick<PushCommands, 'updates' | 'capabilities'>,
  refusals: Refusals,
): Buffer {
  const sentences = [...new Set(refusals.values())].map((sentence) => `${sentence}\n`).join('');
  const reports = capabilities.has('report-status') || capabilities.has('report-status-v2');
  const lines = updates.map(({ ref }) => pktLine(`ng ${ref} pre-receive hook declined\n`));
  const report = reports ? Buffer.concat([pktLine('unpack ok\n'), ...lines, FLUSH]) : Buffer.alloc(0);
  if (!capabilities.has('side-band-64k')) return report;
  return Buffer.concat([inBand(PROGRESS, sentences), inBand(DATA, report), FLUSH]);
}

/** The refs that the report of receive-pack says were changed; undefined where it is no report. `lines` are its lines, of the side-band where there is one. */
export function acceptedRefs(lines: readonly PktLine[], sideBand: boolean): Set<string> | undefined {
  const payloads = lines.flatMap(({ payload }) => payload ?? []);
  const data = sideBand
    ? Buffer.concat(payloads.filter((payload) => payload[0] === DATA).map((payload) => payload.subarray(1)))
    : undefined;
  const reported = data
    ? [...new PktLineReader().push(data)].flatMap(({ payload }) => payload ?? [])
    : payloads;
  if (!reported[0]?.toString('latin1').startsWith('unpack ')) return undefined;
  const accepted = reported.map((payload) => /^ok (.+?)\n?$/.exec(payload.toString('utf8'))?.[1]);
  return new Set(accepted.filter((ref) => ref !== undefined));
}
