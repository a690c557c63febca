/** Fetches: advertisements and packs, as the git program gives them. */

import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import type { MemoryReservation } from '../../../platform/fair-share.ts';
import { FLUSH, pktLine } from '../../../platform/git/program/pkt-line.ts';
import {
  type Running,
  type Service,
  type ServiceOptions,
  startService,
} from '../../../platform/git/program/transport.ts';
import type { HttpRequest, HttpResponse } from '../../../platform/http/messages.ts';
import { countFetch } from '../fetches/count-actions.ts';
import type { PushTarget } from '../store/repository-kinds.ts';
import { ADVERTISE, advertisementIn, SECOND_VERSION } from './advertisement.ts';
import { purposes } from './credentials.ts';
import { leaseFolder } from './leased-folder.ts';
import { chunksOf, openBody, protocolOf, requireType } from './request.ts';
import { requestMemory } from './request-memory.ts';
import { ofService } from './responses.ts';

type UploadRequest = Pick<ServiceOptions, 'service' | 'flags' | 'protocol' | 'configuration'>;

/** Leases the folder for the service, with the request to git. */
async function enter(
  services: Needs<'config' | 'database' | 'repositories' | 'log'>,
  target: PushTarget,
  request: HttpRequest,
  service: Service,
) {
  const { folder, empty, release } = await leaseFolder(services, target, purposes[service]);
  const asked: UploadRequest = {
    service,
    protocol: protocolOf(request.headers['git-protocol']),
    configuration: {
      // The empty folder stands for many: its HEAD is that of none.
      ...(empty && { 'lsrefs.unborn': 'ignore' }),
      ...(target.hiddenRefs && { 'uploadpack.hideRefs': target.hiddenRefs }),
    },
  };
  const leave = () => void release().catch((error) => services.log.error('a repository stays held', error));
  return { folder, asked, leave };
}

type Entered = Awaited<ReturnType<typeof enter>>;

/** Starts the service in the folder, which stays leased until git has ended. */
async function serve(
  { folder, leave }: Entered,
  request: UploadRequest,
  signal: AbortSignal,
): Promise<Running> {
  try {
    const running = await startService({ ...request, folder, signal });
    void running.ended.then(leave);
    return running;
  } catch (error) {
    leave();
    throw error;
  }
}

/** The advertisement: the refs, and the capabilities of the service. */
export async function advertise(
  services: Needs<'config' | 'database' | 'repositories' | 'log'>,
  target: PushTarget,
  request: HttpRequest,
  service: Service,
): Promise<HttpResponse> {
  const protocol = protocolOf(request.headers['git-protocol']);
  const isSecond = protocol === SECOND_VERSION && service === 'upload-pack';
  const title = isSecond ? [] : [pktLine(`# service=git-${service}\n`), FLUSH];
  const git = await services.repositories.locate(target.key, purposes[service]);
  const known = git && (await advertisementIn(services, git.folder, { service, protocol }));
  if (known) return ofService(`${service}-advertisement`, Buffer.concat([...title, known]));
  const entered = await enter(services, target, request, service);
  const { stdin, stdout } = await serve(entered, { ...entered.asked, flags: ADVERTISE }, request.signal);
  stdin.end();
  if (!isSecond) stdout.unshift(Buffer.concat(title));
  return ofService(`${service}-advertisement`, stdout);
}

/** The response to a fetch: refs in the second version of the protocol, and packs. */
export async function upload(
  services: Needs<'config' | 'database' | 'repositories' | 'log'>,
  target: PushTarget,
  request: HttpRequest,
): Promise<HttpResponse> {
  requireType(request, 'upload-pack');
  const memory = requestMemory.open();
  try {
    // The request is read before a lease or a process is taken for it: a slow client keeps neither.
    const question = await readWants(request, memory);
    const entered = await enter(services, target, request, 'upload-pack');
    const running = await serve(entered, entered.asked, request.signal);
    void running.ended.then(memory.release);
    running.stdin.end(question);
    countFetch(services, target.key, question);
    return ofService('upload-pack-result', running.stdout);
  } catch (error) {
    memory.release();
    throw error;
  }
}

/** The whole request; of a truncated or badly compressed one git itself says what is wrong. 503 where there is no memory for it. */
async function readWants(request: HttpRequest, memory: MemoryReservation): Promise<Buffer> {
  const body = openBody(request, 'upload-pack');
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of chunksOf(body)) {
      memory.take(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    // git says what is wrong with the rest.
  }
  return Buffer.concat(chunks);
}
