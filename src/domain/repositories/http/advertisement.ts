/**
 * The advertisement of a service: its capabilities, and for a push the refs. git would need a process for
 * each client; here it is asked once for the capabilities, and few refs are read without it.
 */
import { buffer } from 'node:stream/consumers';
import type { Needs } from '../../../kernel/services.ts';
import { runForProgram } from '../../../platform/fair-share.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import { FLUSH, PktLineReader, pktLine } from '../../../platform/git/program/pkt-line.ts';
import { type ServiceOptions, startService } from '../../../platform/git/program/transport.ts';
import { isRepository, readRefFiles } from '../../../platform/git/ref-files.ts';
import { emptyRepository } from './leased-folder.ts';

export const SECOND_VERSION = 'version=2';

/** git's flag for an advertisement: it reads and says nothing else. */
export const ADVERTISE = ['--http-backend-info-refs'];

type AdvertisementRequest = Pick<ServiceOptions, 'service' | 'protocol'>;

const emptyAdvertisements = new Map<string, Promise<Buffer>>();
const READ_TIMEOUT_MS = 30_000;

/** git's advertisement for a repository without refs; it is the same in all of them, so git is asked once. */
function inEmpty(services: Needs<'config'>, request: AdvertisementRequest): Promise<Buffer> {
  const key = JSON.stringify(request);
  const known = emptyAdvertisements.get(key);
  if (known) return known;
  // Later callers use it too, so it counts in no caller's share.
  const change = runForProgram(() => askInEmpty(services, request));
  emptyAdvertisements.set(key, change);
  change.catch(() => emptyAdvertisements.delete(key));
  return change;
}

async function askInEmpty(services: Needs<'config'>, request: AdvertisementRequest): Promise<Buffer> {
  const folder = await emptyRepository(services);
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const { stdin, stdout, ended } = await startService({ ...request, folder, flags: ADVERTISE, signal });
  stdin.end();
  const bytes = await buffer(stdout);
  const { code, complaint } = await ended;
  if (code !== 0) throw new Error(`git ${request.service} ended with ${code}: ${complaint}`);
  return bytes;
}

/** The advertisement of the folder, as git would give it; undefined where git has to be asked. */
export async function advertisementIn(
  services: Needs<'config'>,
  folder: string,
  { service, protocol }: AdvertisementRequest,
): Promise<Buffer | undefined> {
  if (service === 'upload-pack') {
    if (protocol !== SECOND_VERSION || !isRepository(folder)) return undefined;
    return inEmpty(services, { service, protocol });
  }
  // Pushes have no second version of the protocol; the first adds a line.
  if (protocol === 'version=1') return undefined;
  const refs = readRefFiles(folder);
  return refs && linesOf(refs, await inEmpty(services, { service, protocol: undefined }));
}

/**
 * The advertisement of these refs: the capabilities of the empty one behind the first ref (gitprotocol-pack:
 * Reference Discovery).
 */
function linesOf(refs: ReadonlyMap<string, string>, ofNone: Buffer): Buffer {
  const [first] = new PktLineReader().push(ofNone);
  const abilities = first?.payload?.toString('latin1').split('\0')[1]?.trimEnd() ?? '';
  const shown = [...refs];
  if (shown.length === 0) shown.push(['capabilities^{}', NO_OBJECT]);
  const lines = shown.map(([name, oid], index) =>
    pktLine(Buffer.from(`${oid} ${name}${index === 0 ? `\0${abilities}` : ''}\n`, 'latin1')),
  );
  return Buffer.concat([...lines, FLUSH]);
}
