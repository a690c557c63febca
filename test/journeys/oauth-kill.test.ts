/** Clients' tokens after the program is killed while they exchange codes, refresh tokens and device codes. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as oauth from 'oauth4webapi';
import { afterAll, expect, test } from 'vitest';
import { databaseOf } from '../../bench/database.ts';
import { connect } from '../../src/platform/db/database.ts';
import { type Application, CALLBACK, register, statusOf } from './applications.ts';
import { meetPerson, type Person } from './person.ts';
import { cleanUp, killNow, makeFolder, type Program, postmaster, startProgram } from './support.ts';

afterAll(() => cleanUp());

const ROUNDS = 15;
/** On a busy machine a life may be too short for one of the kinds: then there are more rounds. */
const MAX_ROUNDS = 4 * ROUNDS;
const CLIENTS = 6;
/** Milliseconds after which the program is killed, at most: a client makes some ten exchanges meanwhile. */
const MAX_LIFE_MS = 400;
const PASSWORD = 'correct horse battery staple';
const insecure = { [oauth.allowInsecureRequests]: true } as const;

type Tokens = { access: string; refresh: string };

const kinds = ['code', 'refresh', 'device'] as const;
type Kind = (typeof kinds)[number];

/** An exchange that can be sent again, as clients do that got no response. */
type Exchange = { kind: Kind; send(as: oauth.AuthorizationServer): Promise<oauth.TokenEndpointResponse> };

type Client = {
  application: Application;
  person: Person;
  client: oauth.Client;
  auth: oauth.ClientAuth;
  /** Acknowledged and unused tokens: the latest of each approval. */
  held: Tokens[];
  /** The exchange whose response never came. */
  unsure: Exchange | undefined;
  /** Device codes that were used up by an exchange whose response was lost: no client has these tokens. */
  lost: number;
};

/** Counts of acknowledged exchanges, and of interrupted ones that then turned out to have happened, or not. */
const tally = { acknowledged: 0, happened: 0, 'not happened': 0 };
const seen: Record<Kind, typeof tally> = { code: { ...tally }, refresh: { ...tally }, device: { ...tally } };

async function discover(program: Program): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(program.url);
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
}

/** A user who is signed in, with an application of their own: every second one is public. */
async function makeClient(program: () => Program, number: number): Promise<Client> {
  const username = `person-${number}`;
  const email = `${username}@example.com`;
  const user = { username, name: username, email, password: PASSWORD, skip_confirmation: true };
  expect((await program().root('POST /users', user)).status).toBe(201);
  const person = meetPerson(() => program().url);
  await person.signIn(username, PASSWORD);
  const confidential = number % 2 === 0;
  const application = await register(program(), `application ${number}`, {
    scopes: 'read_user openid',
    confidential,
  });
  const auth = confidential ? oauth.ClientSecretBasic(application.secret) : oauth.None();
  const client = { client_id: application.id };
  return { application, person, client, auth, held: [], unsure: undefined, lost: 0 };
}

async function byCode({ client, auth, person }: Client, as: oauth.AuthorizationServer): Promise<Exchange> {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const authorization = new URL(as.authorization_endpoint ?? '');
  authorization.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'read_user openid',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  }).toString();
  const answered = await person.decide(authorization, 'approve');
  const parameters = oauth.validateAuthResponse(as, client, answered, state);
  return {
    kind: 'code',
    send: async (server) => {
      const options = [parameters, CALLBACK, verifier, insecure] as const;
      const response = await oauth.authorizationCodeGrantRequest(server, client, auth, ...options);
      return oauth.processAuthorizationCodeResponse(server, client, response);
    },
  };
}

async function byDevice({ client, auth, person }: Client, as: oauth.AuthorizationServer): Promise<Exchange> {
  const requested = await oauth.deviceAuthorizationRequest(
    as,
    client,
    auth,
    { scope: 'read_user' },
    insecure,
  );
  const device = await oauth.processDeviceAuthorizationResponse(as, client, requested);
  await person.decideDevice(device.user_code, 'approve');
  return {
    kind: 'device',
    send: async (server) => {
      const response = await oauth.deviceCodeGrantRequest(server, client, auth, device.device_code, insecure);
      return oauth.processDeviceCodeResponse(server, client, response);
    },
  };
}

const byRefresh = ({ client, auth }: Client, { refresh }: Tokens): Exchange => ({
  kind: 'refresh',
  send: async (server) => {
    const response = await oauth.refreshTokenGrantRequest(server, client, auth, refresh, insecure);
    return oauth.processRefreshTokenResponse(server, client, response);
  },
});

/** Sends the exchange, and keeps its tokens. */
async function exchange(client: Client, as: oauth.AuthorizationServer, sent: Exchange): Promise<void> {
  client.unsure = sent;
  const tokens = await sent.send(as);
  client.held.push({ access: tokens.access_token, refresh: tokens.refresh_token ?? '' });
  client.unsure = undefined;
}

/** Whether the connection ended without a response: anywhere among the causes. */
function isCutOff(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof TypeError && /^(fetch failed|terminated)$/.test(cause.message)) return true;
  }
  return false;
}

/** Works until the program is gone. */
async function workUntilStruck(client: Client, as: oauth.AuthorizationServer, isStruck: () => boolean) {
  const begin = async (): Promise<Exchange> => {
    const chance = Math.random();
    const used =
      chance < 0.5 ? client.held.splice(Math.floor(Math.random() * client.held.length), 1)[0] : undefined;
    if (used) return byRefresh(client, used);
    return chance < 0.85 ? byCode(client, as) : byDevice(client, as);
  };
  try {
    while (!isStruck()) {
      const sent = await begin();
      await exchange(client, as, sent);
      seen[sent.kind].acknowledged++;
    }
  } catch (error) {
    if (!isStruck() || !isCutOff(error)) throw error;
  }
}

/** The database's tokens: the number of live ones of each grant, and of each application. */
async function readFamilies(program: Program): Promise<{ halves: unknown[]; live: Map<string, number> }> {
  const sql = connect(databaseOf(program.data), { max: 1, statementTimeout: 0, name: 'journey' });
  try {
    const families = await sql<
      { id: number; uid: string; given: boolean; access: number; refresh: number }[]
    >`
      select g.id::int, a.uid, g.revoked_at is null and (g.kind <> 'authorization_code' or g.code_used_at is not null) as given,
        (select count(*) from access_tokens t
          where t.grant_id = g.id and t.revoked_at is null and t.expires_at > now())::int as access,
        (select count(*) from oauth_refresh_tokens r
          where r.grant_id = g.id and r.used_at is null and g.revoked_at is null)::int as refresh
      from oauth_grants g join oauth_applications a on a.id = g.application_id`;
    const devices = await sql`
      select a.uid from oauth_applications a
      where (select count(*) from oauth_devices d where d.application_id = a.id and d.state = 'redeemed')
        <> (select count(*) from oauth_grants g where g.application_id = a.id and g.kind = 'device_code')`;
    // The windows of rate limits would outlast the rounds.
    await sql`delete from rate_limit_windows`;
    const live = new Map<string, number>();
    for (const { uid } of families.filter((family) => family.given)) live.set(uid, (live.get(uid) ?? 0) + 1);
    const isWhole = (family: (typeof families)[number]) =>
      family.access === Number(family.given) && family.refresh === Number(family.given);
    return { halves: [...families.filter((family) => !isWhole(family)), ...devices], live };
  } finally {
    await sql.end();
  }
}

/** A client without a response sends the exchange again; the tokens that it ends with. */
async function recover(client: Client, as: oauth.AuthorizationServer): Promise<void> {
  const { unsure } = client;
  if (!unsure) return;
  client.unsure = undefined;
  try {
    await exchange(client, as, unsure);
    seen[unsure.kind]['not happened']++;
  } catch (error) {
    client.unsure = undefined;
    if (!(error instanceof oauth.ResponseBodyError)) throw error;
    // It had happened. A second use of a code or a refresh token ends its grant; the client starts again.
    expect(error.error).toBe('invalid_grant');
    seen[unsure.kind].happened++;
    if (unsure.kind === 'device') client.lost++;
    await exchange(client, as, await byCode(client, as));
  }
}

/** Every acknowledged token is valid at the API, and no other one is alive. */
async function expectWhole(program: Program, clients: readonly Client[]): Promise<void> {
  const { halves, live } = await readFamilies(program);
  expect(halves).toEqual([]);
  for (const { application, held, lost } of clients) {
    const statuses = await Promise.all(held.map(({ access }) => statusOf(program, access)));
    expect(statuses).toEqual(held.map(() => 200));
    expect(live.get(application.id) ?? 0).toBe(held.length + lost);
  }
}

test('a client that was cut off has tokens that work or starts again; no approval lives twice', async () => {
  const data = join(makeFolder(), 'data');
  let program = await startProgram({ data });
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, number) => makeClient(() => program, number)),
  );
  const enough = () => kinds.every((kind) => seen[kind].acknowledged > 0);
  for (let round = 0; round < ROUNDS || (!enough() && round < MAX_ROUNDS); round++) {
    const as = await discover(program);
    let struck = false;
    const working = clients.map((client) => workUntilStruck(client, as, () => struck));
    await sleep(Math.random() * MAX_LIFE_MS);
    struck = true;
    // Every third time the database goes with it; after the program, or clients would get errors about it.
    killNow(program.pid);
    if (round % 3 === 2) killNow(postmaster(data));
    await Promise.all(working);
    await program.ended;

    program = await startProgram({ data });
    expect((await readFamilies(program)).halves).toEqual([]);
    const server = await discover(program);
    await Promise.all(clients.map((client) => recover(client, server)));
    await expectWhole(program, clients);
  }

  // Every family can still be renewed, the oldest too.
  const as = await discover(program);
  for (const client of clients) {
    for (const tokens of client.held.splice(0)) await exchange(client, as, byRefresh(client, tokens));
  }
  await expectWhole(program, clients);
  for (const kind of kinds) expect(seen[kind].acknowledged, kind).toBeGreaterThan(0);
  expect(
    kinds.reduce((sum, kind) => sum + seen[kind]['not happened'] + seen[kind].happened, 0),
  ).toBeGreaterThan(0);
  if (process.env.JOURNEY_TALLY) console.log(seen);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});
