/** Pushes: their updates are judged first, and recorded before the client gets its report. */

import { PassThrough, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RepositoryLease } from '../../../kernel/repository-store.ts';
import { now } from '../../../platform/clock.ts';
import { Failure } from '../../../platform/failure.ts';
import type { MemoryReservation } from '../../../platform/fair-share.ts';
import { packManyRefs } from '../../../platform/git/copies/housekeeping.ts';
import { isWritableRef, NO_OBJECT } from '../../../platform/git/names.ts';
import {
  BadPktLine,
  DATA,
  FATAL,
  inBand,
  type PktLine,
  PktLineReader,
  PROGRESS,
} from '../../../platform/git/program/pkt-line.ts';
import { type Running, startService } from '../../../platform/git/program/transport.ts';
import {
  type RefUpdate,
  removeStaleLocks,
  syncNewObjects,
  syncRefNames,
} from '../../../platform/git/write.ts';
import type { HttpRequest, HttpResponse } from '../../../platform/http/messages.ts';
import { takeTurns } from '../../../platform/turns.ts';
import { type FollowerServices, pushFollowers } from '../pushes/push-followers.ts';
import { intentOf, takenRefs } from '../pushes/pushes.ts';
import type { Judge, PushTarget } from '../store/repository-kinds.ts';
import { ensure } from '../store/store.ts';
import { broadcastLines } from './broadcast-lines.ts';
import { type JudgedByObjects, namesOf, openHook } from './push-hook.ts';
import { acceptedRefs, CommandReader, type PushCommands, refusalReport } from './push-protocol.ts';
import { chunksOf, openBody, requireType } from './request.ts';
import { requestMemory } from './request-memory.ts';
import { ofService } from './responses.ts';

/** Bytes of names that one variable of the environment may have. */
const MAX_NAMES = 100_000;
/** Bytes of a refused push that are read: clients read no response before they have sent everything. */
const MAX_DRAINED_BYTES = 1_073_741_824;

const pushResponse = (body: Readable | Buffer): HttpResponse => ofService('receive-pack-result', body);

type Push = PushCommands & {
  /** The bytes of the commands, and any that came with them. */
  taken: readonly Buffer[];
  body: Readable;
  /** The rest of the body. */
  chunks: AsyncIterableIterator<Buffer>;
};

/** The commands of the push; 400 for bytes that are none, 503 where there is no memory for so many. */
async function readPush(body: Readable, memory: MemoryReservation): Promise<Push> {
  const chunks = chunksOf(body);
  const reader = new CommandReader();
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      memory.take(next.value.length);
      const commands = reader.push(next.value);
      if (commands) return { ...commands, taken: reader.taken, body, chunks };
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    const reason = error instanceof BadPktLine ? error.message : 'its body is broken';
    throw new Failure('bad_request', `The push cannot be read: ${reason}.`);
  }
  throw new Failure('bad_request', 'The push ends before its commands do.');
}

async function drain(body: Readable): Promise<void> {
  let bytes = 0;
  for await (const chunk of chunksOf(body)) {
    bytes += chunk.length;
    if (bytes > MAX_DRAINED_BYTES) return;
  }
}

/** Takes a push; 413 for one whose length is over the limit, 403 while the repository is read-only. */
export async function receive(
  services: FollowerServices,
  target: PushTarget,
  request: HttpRequest,
): Promise<HttpResponse> {
  requireType(request, 'receive-pack');
  const { largestPush } = target;
  const length = Number(request.headers['content-length'] ?? 0);
  if (largestPush !== undefined && length > largestPush)
    throw new Failure('payload_too_large', `The push is larger than ${largestPush} bytes.`);
  const memory = requestMemory.open();
  try {
    const push = await readPush(openBody(request, 'receive-pack'), memory);
    return pushResponse(await judgePush(services, target, request, push, memory));
  } catch (error) {
    memory.release();
    throw error;
  }
}

/** The response to the push: refusals, or git's output while it runs; git's push keeps its memory to the end. */
async function judgePush(
  services: FollowerServices,
  target: PushTarget,
  request: HttpRequest,
  push: Push,
  memory: MemoryReservation,
): Promise<Readable | Buffer> {
  // Clients send an empty push to learn whether they are authorized.
  if (push.updates.length === 0) {
    memory.release();
    return Buffer.alloc(0);
  }
  if (!reports(push))
    throw new Failure('bad_request', 'The client does not ask for a report of what was pushed.');
  const judging = target.judge();
  // Its rejection is handled where it is awaited below.
  judging.catch(() => {});
  await target.ensureStorage?.();
  const lease = await services.repositories.lease(
    target.key,
    'write',
    intentOf(target.followed?.actor, push.updates),
  );
  try {
    const { folder } = lease.git;
    await ensure(services.database.sql, target.key, lease, target.defaultBranch);
    await removeStaleLocks(
      folder,
      push.updates.map(({ ref }) => ref),
    );
    const judge = await judging;
    const unforced = push.updates.filter((update) => isRewritable(update) && !judge.mayForce(update.ref));
    const refusals = await refusalsOf(push.updates, judge, unforced);
    if (refusals.size > 0) {
      await lease.release();
      await drain(push.body);
      memory.release();
      return refusalReport(push, refusals);
    }
    const brings = push.updates.some(({ after }) => after !== NO_OBJECT);
    return await take(
      services,
      target,
      lease,
      request,
      push,
      { judge, updates: push.updates, unforced, brings },
      memory,
    );
  } catch (error) {
    await lease.release();
    throw error;
  }
}

const reports = ({ capabilities }: PushCommands): boolean =>
  capabilities.has('report-status') || capabilities.has('report-status-v2');

const isRewritable = ({ before, after }: RefUpdate): boolean => before !== NO_OBJECT && after !== NO_OBJECT;

async function refusalsOf(
  updates: readonly RefUpdate[],
  judge: Judge,
  unforced: readonly RefUpdate[],
): Promise<Map<string, string>> {
  const refusals = new Map<string, string>();
  const turn = takeTurns();
  for (const update of updates) {
    await turn();
    const refusal = isWritableRef(update.ref)
      ? judge.refusal(update)
      : `${JSON.stringify(update.ref)} cannot be the name of a branch or tag here.`;
    if (refusal !== undefined) refusals.set(update.ref, refusal);
  }
  if (Buffer.byteLength(namesOf(unforced)) > MAX_NAMES)
    for (const { ref } of unforced)
      refusals.set(ref, 'The push changes too many protected branches at once.');
  return refusals;
}

/** Hands the push to git; returns git's report while it is still being written. */
async function take(
  services: FollowerServices,
  target: PushTarget,
  lease: RepositoryLease,
  request: HttpRequest,
  push: Push,
  judged: JudgedByObjects,
  memory: MemoryReservation,
): Promise<Readable> {
  const hook = await openHook(lease.git, judged);
  const sending = new AbortController();
  const hangUp = () => sending.abort();
  request.signal.addEventListener('abort', hangUp, { once: true });
  if (request.signal.aborted) hangUp();
  const since = now();
  const running = await startService({
    service: 'receive-pack',
    folder: lease.git.folder,
    configuration: {
      ...hook.options.configuration,
      ...(target.largestPush !== undefined && { 'receive.maxInputSize': String(target.largestPush) }),
    },
    environment: hook.options.environment ?? {},
    signal: sending.signal,
  }).catch(async (error) => {
    await hook.close();
    throw error;
  });
  void hook
    .attend(running.ended)
    .finally(() => running.ended.then(() => hook.close()))
    .catch((error) => services.log.error('a push was not judged', error, { request_id: request.id }));
  const sent = feed(push, running, hook.settle).then((whole) => {
    // git has all of the push now: it is taken and recorded, even when the client goes.
    if (whole) request.signal.removeEventListener('abort', hangUp);
  });
  const out = new PassThrough();
  let cutOff = false;
  void finishPush(services, target, lease, request, push, running, out, since)
    .catch((error) => {
      cutOff = true;
      if (sending.signal.aborted) return out.destroy();
      services.log.error('a push was not recorded', error, { request_id: request.id });
      const text = 'The server could not record this push.\n';
      return push.capabilities.has('side-band-64k')
        ? out.end(inBand(FATAL, text))
        : out.destroy(new Error(text));
    })
    .finally(async () => {
      await sent;
      memory.release();
      // The client has its report.
      await packManyRefs(lease.git.folder).catch((error) =>
        services.log.error('refs were not packed', error),
      );
      await lease.release(cutOff);
    })
    .catch((error) => services.log.error('a repository stays held', error));
  return out;
}

/** Sends all of the push to git; false when the client, or git, ended before. */
async function feed(push: Push, running: Running, beforeEnd: () => Promise<void>): Promise<boolean> {
  async function* all(): AsyncGenerator<Buffer> {
    let last: Buffer | undefined;
    for await (const chunks of [push.taken, push.chunks])
      for await (const chunk of chunks) {
        if (last) yield last;
        last = chunk;
      }
    await beforeEnd();
    if (last) yield last;
  }
  try {
    await pipeline(all, running.stdin);
    return true;
  } catch {
    // When git has ended, it has given the reason; the client reads that after it has sent its pack.
    if (!push.body.errored && !push.body.destroyed) await drain(push.body).catch(() => {});
    if (!push.body.readableEnded) running.end();
    return false;
  }
}

/** Passes progress on while git runs; keeps the report until the push is recorded. */
async function finishPush(
  services: FollowerServices,
  target: PushTarget,
  lease: RepositoryLease,
  request: HttpRequest,
  push: Push,
  running: Running,
  out: Writable,
  since: Date,
): Promise<void> {
  const sideBand = push.capabilities.has('side-band-64k');
  const report: PktLine[] = [];
  const lines = new PktLineReader();
  for await (const chunk of running.stdout as AsyncIterable<Buffer>) {
    for (const line of lines.push(chunk)) {
      if (sideBand && isForPeople(line)) out.write(withoutPath(line, lease.git.folder));
      else report.push(line);
    }
  }
  const { code, complaint } = await running.ended;
  const accepted = acceptedRefs(report, sideBand);
  // Every push that git took is recorded: where the report cannot be read, the refs themselves are asked.
  const updates = accepted
    ? push.updates.filter(({ ref }) => accepted.has(ref))
    : await takenRefs(lease.git, push.updates);
  if (updates.length > 0) {
    const refs = updates.map(({ ref }) => ref);
    const { folder } = lease.git;
    // A power failure may leave the record of a push whose objects are lost; its client got no report, and pushes
    // again.
    await Promise.all([
      syncNewObjects(folder, since),
      syncRefNames(folder, refs),
      target.record(lease.git, { updates, options: push.options }, lease.confirm()),
    ]);
    services.wake();
    const told = [
      ...(await follow(services, target, request, push, updates)),
      ...(await broadcastLines(services, request, target.followed?.actor)),
    ];
    if (sideBand && told.length > 0) out.write(inBand(PROGRESS, told.map((line) => `${line}\n`).join('')));
  }
  if (report.length === 0) throw new Error(`git receive-pack ended with ${code}: ${complaint}`);
  out.end(Buffer.concat(report.map((line) => line.bytes)));
}

/** What others do about the push, and have to say: it is taken, whatever they meet. */
async function follow(
  services: FollowerServices,
  { followed }: PushTarget,
  request: HttpRequest,
  { options }: Push,
  updates: readonly RefUpdate[],
): Promise<string[]> {
  const told: string[] = [];
  if (!followed) return told;
  for (const follower of pushFollowers.all(services)) {
    try {
      told.push(...(await follower({ ...followed, services, request, updates, options })));
    } catch (error) {
      services.log.error('a push was not followed', error, { request_id: request.id });
    }
  }
  return told;
}

/** Progress, and the empty lines that keep the connection open. */
const isForPeople = ({ payload }: PktLine): boolean =>
  payload !== undefined && (payload[0] === PROGRESS || (payload[0] === DATA && payload.length === 1));

/** Progress does not show the path of the repository's folder. */
function withoutPath(line: PktLine, folder: string): Buffer {
  const text = line.payload?.toString('latin1', 1) ?? '';
  if (!text.includes(folder)) return line.bytes;
  return inBand(line.payload?.[0] ?? PROGRESS, Buffer.from(text.replaceAll(`${folder}/`, ''), 'latin1'));
}
