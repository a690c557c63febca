/**
 * The digest makes errors of the reports in the spool. It runs in a process of its own, which exists while
 * there is work; this module starts and watches it. The digests of several programs do not conflict: a batch
 * is one transaction, so that no report is lost or counted twice.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Capability } from '../../../kernel/capability.ts';
import type { Needs } from '../../../kernel/services.ts';
import { monotonic } from '../../../platform/clock.ts';
import type { ReadGauge } from '../../../platform/metrics.ts';
import { deriveKey } from '../../../platform/secret.ts';
import type { ItemCounts } from '../collector/item-counts.ts';
import type { Spool } from '../collector/spool.ts';
import { type Counts, noCounts } from './digest-batch.ts';
import type { Beginning, DigestMessage, DigestOrder } from './digest-process.ts';
import { blameReports, hasReports, MAX_BATCH_REPORTS } from './queries.ts';

/**
 * Limits of one report (the worst allowed one takes a sixth of the time on an idle machine), and milliseconds
 * after which an idle process ends, because it uses tens of MiB.
 */
const LIMITS = { milliseconds: 30_000, memoryMb: 512, idle: 30_000 };
/** Milliseconds in which reports gather for one order. */
const GATHER_MS = 40;
/** Milliseconds between two checks for reports that another process left. */
const POLL_INTERVAL_MS = 1_000;
/** Milliseconds of pause after a failure, such as a lost database. */
const PAUSE_MS = 5_000;
/** Checks of the process within the time limit of a report. */
const CHECKS_PER_LIMIT = 8;
/** Milliseconds to finish a batch when the program stops. */
const END_TIMEOUT_MS = 5_000;
const help = 'Reported events that were digested since the start, by what became of them.';

/**
 * Most of its garbage is short-lived: it goes with the report. Parallel collector threads took a third of the
 * CPU time of a digest, at the cost of requests. The buffers of unpackers are freed by a full collection
 * alone (decision 0015), so their size is to trigger one.
 */
const GARBAGE = [
  '--single-threaded-gc',
  '--min-semi-space-size=16',
  '--max-semi-space-size=32',
  '--external-memory-accounted-in-global-limit',
  '--heap-growing-percent=300',
];

/** The digest of this program: it runs from start to stop, at once when this program has stored a report. */
export function createDigest(
  { database, secretKey, settings, log }: Needs<'database' | 'settings' | 'log' | 'secretKey'>,
  spool: Pick<Spool, 'onStored'>,
  items: Pick<ItemCounts, 'add'>,
  limits = LIMITS,
): { background: NonNullable<Capability['background']>; gauges: readonly ReadGauge[] } {
  const total = noCounts();
  let child: ChildProcess | undefined;
  let inHand: Note | undefined;
  /** The report that the process digested at the last check, and since when. */
  let seen = { id: 0, since: 0 };
  let isWorking = false;
  /** The end of the process is being handled. */
  let isLosing = false;
  /** A report was stored since the last order. */
  let isMore = false;
  let isRunning = false;
  let polling: NodeJS.Timeout | undefined;
  let gathering: NodeJS.Timeout | undefined;
  let watching: NodeJS.Timeout | undefined;
  let pausedUntil = 0;
  /** A report ended the process: until the spool is empty, a batch has one report. */
  let isCareful = false;

  function count(counts: Counts): void {
    for (const name of ['kept', 'repeated', 'unreadable', 'fatal'] as const) total[name] += counts[name];
    if (counts.fatal > 0)
      log.error('a report ended the digest too often', new Error('dropped'), { reports: counts.fatal });
  }

  function fail(error: unknown): void {
    if (!isRunning) return;
    pausedUntil = monotonic() + PAUSE_MS;
    log.error('the digest of reported errors failed', error);
  }

  function forget(): void {
    clearInterval(watching);
    inHand?.close();
    child = inHand = undefined;
  }

  /** Disconnects the process, which then ends. */
  function letGo(idle: ChildProcess): void {
    forget();
    if (idle.connected) idle.disconnect();
  }

  /** Kills a process that exceeds the time of a report, and disconnects an idle one. */
  function watch(watched: ChildProcess): void {
    clearInterval(watching);
    seen = { id: 0, since: monotonic() };
    watching = setInterval(() => {
      const id = inHand?.read() ?? 0;
      if (id !== seen.id) seen = { id, since: monotonic() };
      const time = monotonic() - seen.since;
      if (id !== 0 && time >= limits.milliseconds) watched.kill('SIGKILL');
      else if (!isWorking && time >= limits.idle) letGo(watched);
    }, limits.milliseconds / CHECKS_PER_LIMIT);
    watching.unref();
  }

  function hear(told: DigestMessage): void {
    if ('digested' in told) {
      count(told.digested);
      items.add(told.others);
    } else if ('failed' in told) fail(told.failed);
    else {
      isWorking = isCareful = false;
      seen = { id: 0, since: monotonic() };
      if (isMore) lookSoon();
    }
  }

  /** Handles the end of the process: the report that it was digesting is blamed for it. */
  async function lose(lost: ChildProcess, cause: unknown): Promise<void> {
    if (child !== lost || isLosing) return;
    isLosing = true;
    const culprit = inHand?.read() ?? 0;
    try {
      if (!isRunning) return;
      isCareful = culprit !== 0;
      if (isCareful) count({ ...noCounts(), fatal: await blameReports(database.background, [culprit]) });
      else if (isWorking) fail(new Error('the process that digests reports ended', { cause }));
    } catch (error) {
      fail(error);
    } finally {
      isWorking = isLosing = false;
      forget();
    }
  }

  function open(): ChildProcess {
    const file = fileURLToPath(new URL(`./digest-process${extname(import.meta.url)}`, import.meta.url));
    const options = [...GARBAGE, `--max-old-space-size=${limits.memoryMb}`];
    const note = openNote();
    inHand = note;
    const opened = spawn(process.execPath, [...options, file], {
      // A signal to the terminal's group would end it in the middle of a report.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', note.descriptor],
    });
    opened.on('message', (told: DigestMessage) => hear(told));
    // On any error, the process is killed.
    let cause: unknown;
    opened.on('error', (error) => {
      cause = error;
      if (!opened.kill('SIGKILL') && opened.pid === undefined) void lose(opened, cause);
    });
    opened.once('exit', () => void lose(opened, cause));
    const beginning: Beginning = {
      target: database.target,
      personKey: deriveKey(secretKey, 'error tracking: people').toString('hex'),
    };
    opened.send(beginning);
    opened.unref();
    opened.channel?.unref();
    watch(opened);
    return opened;
  }

  async function look(): Promise<void> {
    const { error_tracking_events_per_error: most } = await settings.read();
    if (!isRunning || isWorking || monotonic() < pausedUntil) return;
    isWorking = true;
    isMore = false;
    child ??= open();
    const order: DigestOrder = { most, batchSize: isCareful ? 1 : MAX_BATCH_REPORTS };
    child.send(order);
  }

  function lookSoon(): void {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      look().catch(fail);
    }, GATHER_MS);
  }

  /** Also finds reports that other processes left. */
  async function poll(): Promise<void> {
    if (isWorking || monotonic() < pausedUntil) return;
    if (await hasReports(database.background)) await look();
  }

  spool.onStored(() => {
    isMore = true;
    if (isRunning && !isWorking) lookSoon();
  });

  return {
    background: {
      start() {
        isRunning = true;
        polling = setInterval(() => void poll().catch(fail), POLL_INTERVAL_MS);
        polling.unref();
      },
      async stop() {
        isRunning = false;
        for (const timer of [polling, gathering, watching]) clearTimeout(timer);
        const last = child;
        if (last && last.exitCode === null && last.signalCode === null) {
          const ended = once(last, 'exit');
          const late = setTimeout(() => last.kill('SIGKILL'), END_TIMEOUT_MS);
          if (last.connected) last.disconnect();
          await ended;
          clearTimeout(late);
        }
      },
    },
    gauges: [
      {
        name: 'error_events_digested_total',
        help,
        labels: ['outcome'],
        read: () => Object.entries(total).map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
    ],
  };
}

type Note = ReturnType<typeof openNote>;

/** An unlinked file, into which the process writes the id of its current report. Reads zero for none. */
function openNote() {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-digest-'));
  const descriptor = openSync(join(folder, 'in-hand'), 'w+');
  rmSync(folder, { recursive: true });
  const number = new BigInt64Array(1);
  return {
    descriptor,
    read: () => (readSync(descriptor, number, 0, number.byteLength, 0) === 0 ? 0 : Number(number[0])),
    close: () => closeSync(descriptor),
  };
}
