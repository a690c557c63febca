/** The identity provider's figures: refresh grants and token information beside oidc-provider, and sign-ins beside others. */
import { Agent, request } from 'node:http';
import { type Program, ROOT_PASSWORD, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { compare, median } from './measure.ts';
import { fillGrants } from './oauth-grants.ts';
import { startScript } from './processes.ts';
import type { Figure } from './table.ts';

const GRANTS = 64;
const SECONDS = 5;

/** A provider with its endpoints, one client, and a refresh token for each connection. */
type Subject = {
  tokenUrl: string;
  client: Record<string, string>;
  refreshTokens: string[];
  /** A request for information about an access token. */
  information: (accessToken: string) => {
    url: string;
    form?: Record<string, string>;
    headers?: Record<string, string>;
  };
  accessToken: string;
};

const agent = new Agent({ keepAlive: true, maxSockets: GRANTS });

type Ask = { url: string; form?: Record<string, string>; headers?: Record<string, string> };

/** One request; its JSON, or an error for any status but 200. */
function ask({ url, form, headers = {} }: Ask): Promise<Record<string, string>> {
  const body = form && new URLSearchParams(form).toString();
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...headers,
          ...(body !== undefined && {
            'content-type': 'application/x-www-form-urlencoded',
            'content-length': Buffer.byteLength(body),
          }),
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => {
          if (response.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`${url}: ${response.statusCode} ${text}`));
        });
      },
    );
    sent.on('error', reject).end(body);
  });
}

/** Requests per second of so many loops at once, each of which runs its work again and again. */
async function rate(loops: number, work: (index: number) => Promise<void>, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let done = 0;
  const loop = async (index: number): Promise<void> => {
    while (performance.now() < end) {
      await work(index);
      done += 1;
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: loops }, (_, index) => loop(index)));
  return done / ((performance.now() - start) / 1_000);
}

/** Each loop refreshes a token of its own, with the one that it got last. */
const refreshing =
  ({ tokenUrl, client, refreshTokens }: Subject) =>
  (seconds: number): Promise<number> =>
    rate(
      GRANTS,
      async (index) => {
        const form = { grant_type: 'refresh_token', ...client, refresh_token: refreshTokens[index] ?? '' };
        const { refresh_token } = await ask({ url: tokenUrl, form });
        refreshTokens[index] = refresh_token ?? '';
      },
      seconds,
    );

const informing =
  (subject: Subject) =>
  (seconds: number): Promise<number> =>
    rate(
      16,
      async () => {
        await ask(subject.information(subject.accessToken));
      },
      seconds,
    );

async function freshAccess(subject: Subject): Promise<void> {
  const form = {
    grant_type: 'refresh_token',
    ...subject.client,
    refresh_token: subject.refreshTokens[0] ?? '',
  };
  const { access_token, refresh_token } = await ask({ url: subject.tokenUrl, form });
  subject.accessToken = access_token ?? '';
  subject.refreshTokens[0] = refresh_token ?? '';
}

async function compareProviders(program: Program, scope: string): Promise<Figure[]> {
  const filled = await fillGrants(program.data, GRANTS, scope);
  const own: Subject = {
    tokenUrl: `${program.url}/oauth/token`,
    client: { client_id: filled.uid, client_secret: filled.secret },
    refreshTokens: filled.refreshTokens,
    information: (token) => ({
      url: `${program.url}/oauth/token/info`,
      headers: { authorization: `Bearer ${token}` },
    }),
    accessToken: '',
  };
  const script = await startScript('oidc-provider.ts', [String(GRANTS), scope]);
  const made = JSON.parse(script.line);
  const client = { client_id: made.clientId, client_secret: made.clientSecret };
  const other: Subject = {
    tokenUrl: `${made.url}/token`,
    client,
    refreshTokens: made.refreshTokens,
    // It has no token information; introspection gives the same.
    information: (token) => ({ url: `${made.url}/token/introspection`, form: { ...client, token } }),
    accessToken: '',
  };
  const figures: Figure[] = [];
  const add = (what: string, { subject, baseline, ratio }: Awaited<ReturnType<typeof compare>>) =>
    figures.push({
      what,
      value: `${subject.toFixed(0)}/s`,
      baseline: `${baseline.toFixed(0)}/s (oidc-provider, in memory)`,
      result: `${(ratio * 100).toFixed(0)} %`,
      target: '≥ 100 %',
      met: ratio >= 1,
    });
  add(
    `refresh grants over ${GRANTS} tokens, scope ${scope}`,
    await compare(refreshing(own), refreshing(other), SECONDS),
  );
  await freshAccess(own);
  await freshAccess(other);
  add(`/oauth/token/info, scope ${scope}`, await compare(informing(own), informing(other), SECONDS));
  await script.stop();
  return figures;
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length * share)] ?? Number.NaN;

/** Other users of the service meanwhile. */
const OTHERS = 8;

/** 99th percentile in milliseconds of their requests for so long. */
async function tail(program: Program, seconds: number): Promise<number> {
  const times: number[] = [];
  const work = async (): Promise<void> => {
    const start = performance.now();
    await ask({ url: `${program.url}/api/v4/user`, headers: { 'private-token': ROOT_TOKEN } });
    times.push(performance.now() - start);
  };
  await rate(OTHERS, work, seconds);
  return percentile(times, 0.99);
}

async function besideSignIns(program: Program): Promise<Figure> {
  await program.root('PUT /application/settings', {
    throttle_protected_paths_enabled: false,
    throttle_authenticated_api_enabled: false,
    max_login_attempts: 0,
  });
  await tail(program, 10);
  const rounds: { quiet: number; busy: number }[] = [];
  for (let round = 0; round < 3; round++) {
    const quiet = await tail(program, SECONDS);
    const people = await startScript('sign-ins.ts', [program.url, ROOT_PASSWORD, '20']);
    const busy = await tail(program, SECONDS);
    await people.stop();
    rounds.push({ quiet, busy });
  }
  const ratio = median(rounds.map(({ quiet, busy }) => busy / quiet));
  return {
    what: `p99 of GET /user over ${OTHERS} connections during 20 concurrent sign-ins`,
    value: `${median(rounds.map(({ busy }) => busy)).toFixed(2)} ms`,
    baseline: `${median(rounds.map(({ quiet }) => quiet)).toFixed(2)} ms (quiet)`,
    result: `${ratio.toFixed(2)}×`,
    target: '≤ 2×',
    met: ratio <= 2,
  };
}

/** All figures of the identity provider. */
export async function measureOAuth(): Promise<Figure[]> {
  const program = await startProgram();
  const figures: Figure[] = [];
  for (const scope of ['api', 'openid']) figures.push(...(await compareProviders(program, scope)));
  figures.push(await besideSignIns(program));
  await program.stop();
  agent.destroy();
  return figures;
}
