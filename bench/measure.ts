/** Measuring: requests per second under load, latency of single requests, medians. */
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';

/** In a body: replaced by another text in each request. */
export const EACH_ANOTHER = '[<id>]';

export type Request = {
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON by POST, to each of the paths in turn. */
  posts?: { paths: readonly string[]; body: unknown };
};

const CONNECTIONS = 16;

/**
 * Connections for durable writes: so many share each flush of the disk that the cost of the requests decides.
 * With few, both sides wait for the disk, one request after the other.
 */
export const MANY_CONNECTIONS = 64;

export const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;

/** The value that such a part of them is below. */
export const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * part)] ?? Number.NaN;

/** Requests per second over some seconds; throws when a response was not 2xx. */
async function load(
  { url, headers = {}, posts }: Request,
  seconds: number,
  connections: number,
): Promise<number> {
  const requests = posts?.paths.map(
    (path) => ({ method: 'POST', path, body: JSON.stringify(posts.body) }) as const,
  );
  const isEachAnother = requests?.some(({ body }) => body.includes(EACH_ANOTHER)) ?? false;
  let clients = 0;
  const result = await autocannon({
    url,
    headers: { ...headers, ...(posts && { 'content-type': 'application/json' }) },
    connections,
    duration: seconds,
    idReplacement: isEachAnother,
    // Each starts at another path: in step, all would wait for one project, then for the next.
    ...(requests && {
      requests,
      setupClient(client) {
        const start = Math.floor((clients++ * requests.length) / connections);
        client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
      },
    }),
  });
  if (result.errors + result.non2xx > 0) {
    throw new Error(
      `${url}: ${result.errors} errors, ${result.non2xx} refusals of ${result.requests.total} requests`,
    );
  }
  return result.requests.average;
}

export type Compared = { subject: number; baseline: number; ratio: number };

/** Seconds after which neither gets faster any more: code is compiled as it is used. */
const WARMING = 8;

/**
 * Both by turns, three times: medians, and the median of the rounds' ratios, which drift touches least.
 * `settle` waits for the subject's background work, so that the baseline has the machine to itself.
 */
export async function compare(
  subject: (seconds: number) => Promise<number>,
  baseline: (seconds: number) => Promise<number>,
  seconds: number,
  settle: () => Promise<void> = async () => {},
): Promise<Compared> {
  await subject(WARMING);
  await settle();
  await baseline(WARMING);
  const rounds: { subject: number; baseline: number }[] = [];
  for (let round = 0; round < 3; round++) {
    const own = await subject(seconds);
    await settle();
    rounds.push({ subject: own, baseline: await baseline(seconds) });
  }
  return {
    subject: median(rounds.map((round) => round.subject)),
    baseline: median(rounds.map((round) => round.baseline)),
    ratio: median(rounds.map((round) => round.subject / round.baseline)),
  };
}

/** Requests per second of both under load. */
export const compareLoad = (
  subject: Request,
  baseline: Request,
  seconds: number,
  settle?: () => Promise<void>,
  connections = CONNECTIONS,
): Promise<Compared> =>
  compare(
    (long) => load(subject, long, connections),
    (long) => load(baseline, long, connections),
    seconds,
    settle,
  );

/** Milliseconds of one request, its body read to the end. */
async function time({ url, headers = {} }: Request): Promise<number> {
  const start = performance.now();
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
  return performance.now() - start;
}

/** Median latency in milliseconds of both, one request after the other, by turns. */
export async function compareLatency(
  subject: Request,
  baseline: Request,
  requests: number,
): Promise<Compared> {
  const times = { subject: [] as number[], baseline: [] as number[] };
  for (let request = 0; request < requests; request++) {
    times.subject.push(await time(subject));
    times.baseline.push(await time(baseline));
  }
  // The first ones fill caches and compile.
  const skipped = Math.floor(requests / 10);
  const [own, other] = [median(times.subject.slice(skipped)), median(times.baseline.slice(skipped))];
  return { subject: own, baseline: other, ratio: own / other };
}

/** Milliseconds of requests that come one after the other until the work is done. */
export async function timesDuring(request: Request, work: Promise<unknown>): Promise<number[]> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  const times: number[] = [];
  while (!isDone) {
    times.push(await time(request));
    await sleep(5);
  }
  await ended;
  return times;
}
