/** What git clients read: the refs that there are, and packs, as the git program gives them. */
import type { Services } from '../../core/services.ts';
import { Failure } from '../../platform/failure.ts';
import {
  type Running,
  type Service,
  type ServiceOptions,
  startService,
} from '../../platform/git/transport.ts';
import type { Answer, HttpRequest } from '../../platform/http/answer.ts';
import { ofService } from './answers.ts';
import { holdFolder } from './holding.ts';
import { FLUSH, pktLine } from './pkt-line.ts';
import type { Place } from './places.ts';
import { chunksOf, openBody, protocolOf, requireType } from './request.ts';
import { enterRoom, type Room } from './room.ts';

type Asked = Pick<ServiceOptions, 'service' | 'flags'>;

/** Starts the service in the folder of the place, which is held until it has ended. */
async function serve(services: Services, place: Place, request: HttpRequest, asked: Asked): Promise<Running> {
  const purpose = asked.service === 'upload-pack' ? 'read' : 'write';
  const { folder, empty, release } = await holdFolder(services, place.key, purpose);
  try {
    const running = await startService({
      ...asked,
      folder,
      // The empty folder stands for many: its HEAD is nobody's.
      ...(empty && { configuration: { 'lsrefs.unborn': 'ignore' } }),
      protocol: protocolOf(request.headers['git-protocol']),
      signal: request.signal,
    });
    void running.ended.then(release).catch((error) => services.log.error('a repository stays held', error));
    return running;
  } catch (error) {
    await release();
    throw error;
  }
}

/** The refs, and what the service can do. */
export async function advertise(
  services: Services,
  place: Place,
  request: HttpRequest,
  service: Service,
): Promise<Answer> {
  const running = await serve(services, place, request, { service, flags: ['--http-backend-info-refs'] });
  running.stdin.end();
  const isSecond = protocolOf(request.headers['git-protocol']) === 'version=2';
  if (!isSecond || service === 'receive-pack')
    running.stdout.unshift(Buffer.concat([pktLine(`# service=git-${service}\n`), FLUSH]));
  return ofService(`${service}-advertisement`, running.stdout);
}

/** What was asked for: refs in the second version of the protocol, and packs. */
export async function upload(services: Services, place: Place, request: HttpRequest): Promise<Answer> {
  requireType(request, 'upload-pack');
  const room = enterRoom();
  try {
    // Before anything is held or started for it: whoever is slow to ask waits by himself.
    const question = await readQuestion(request, room);
    const running = await serve(services, place, request, { service: 'upload-pack' });
    void running.ended.then(room.leave);
    running.stdin.end(question);
    return ofService('upload-pack-result', running.stdout);
  } catch (error) {
    room.leave();
    throw error;
  }
}

/** How long a question may take to arrive. */
const PATIENCE_MILLISECONDS = 60_000;

/** What is asked for, whole; git itself says what is wrong with one that was cut off or compressed badly. 503 where there is no room for it. */
async function readQuestion(request: HttpRequest, room: Room): Promise<Buffer> {
  const body = openBody(request, 'upload-pack');
  const patience = setTimeout(() => body.destroy(), PATIENCE_MILLISECONDS);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of chunksOf(body)) {
      room.take(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    // Anything else is as said above.
  } finally {
    clearTimeout(patience);
  }
  return Buffer.concat(chunks);
}
