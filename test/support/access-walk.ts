/**
 * The walk through every route of the program: every caller tries each, in every situation that makes a
 * difference, with a request that would succeed for the right caller. Its writes are undone before the next
 * one.
 */
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { type AccessWorld, makeAccessWorld } from './access-world.ts';
import type { TestApp } from './app.ts';
import type { CallerName } from './callers.ts';
import { type GoodRequest, makeRequests } from './good-requests.ts';
import { type RawResponse, sendRaw } from './raw-http.ts';
import { type AccessCase, makeRouteCases } from './route-cases.ts';
import { changeOf, type Situation, situationNames, situations } from './situations.ts';
import { watchChanges } from './undo.ts';

export type Cell = { route: AccessCase; situation: Situation; caller: CallerName };

export type Walk = {
  routes: readonly AccessCase[];
  cells: readonly Cell[];
  world: AccessWorld;
  enter(situation: Situation): Promise<void>;
  /** The response to the caller, in a word; the writes of the request are undone. */
  ask(cell: Cell): Promise<string>;
  /** The same for who has this credential, in the situation that was entered last. */
  askWith(route: AccessCase, credential: Record<string, string>): Promise<string>;
  /** The responses to requests of one situation that should write nothing, all at the same time. */
  askTogether(cells: readonly Cell[]): Promise<readonly string[]>;
  /** The same request with a text that is no JSON, which has no effect, in the situation that was entered last. */
  sendMalformed(cell: Cell): Promise<RawResponse>;
};

export async function openWalk(app: TestApp): Promise<Walk> {
  const world = await makeAccessWorld(app);
  const { sql } = app.app.services.database;
  const requests = await makeRequests(app, world.places, app.app.endpoints);
  const endpoints = requests.map(
    ({ spec, title, request }): AccessCase => ({
      title,
      endpoint: spec,
      request,
      credential: 'token',
      situations: situationsOf(spec),
    }),
  );
  const routes = [...endpoints, ...(await makeRouteCases(app, world))];
  const { undo } = await watchChanges(app);
  let now: Situation | undefined;
  /** Only one at a time: another would see a request's writes, or undo them. */
  async function enter(situation: Situation): Promise<void> {
    if (now === situation) return;
    await sql.begin((tx) => tx.unsafe(changeOf(situation, world.places.group)));
    now = situation;
  }
  function send({ route, caller }: Cell, request: GoodRequest): Promise<RawResponse> {
    const { line, headers, body } = request;
    const presented = world.credentials(caller, route.credential);
    const filled = typeof body === 'string' ? body.replaceAll('{csrf}', presented.csrf ?? '') : body;
    return sendRaw(app.url, line, {
      headers: { ...headers, ...presented.headers },
      ...(filled !== undefined && { body: filled }),
    });
  }
  async function ask(cell: Cell): Promise<string> {
    await enter(cell.situation);
    return judge(cell.route, await send(cell, cell.route.request));
  }
  async function judge(route: AccessCase, response: RawResponse): Promise<string> {
    if (onlyReads(route)) return verdictOf(route, response);
    const changed = await undo();
    const said = verdictOf(route, response);
    // A refusal, 404 or 403, must have written nothing.
    return !said.startsWith('yes') && changed.length > 0
      ? `${said}, but it wrote ${[...new Set(changed)].sort().join()}`
      : said;
  }
  return {
    routes: routes,
    cells: situationNames.flatMap((situation) =>
      routes
        .filter((route) => route.situations.includes(situation))
        .flatMap((route) =>
          situations[situation].who
            .filter((caller) => route.callers?.includes(caller) ?? true)
            .map((caller) => ({ route, situation, caller })),
        ),
    ),
    world,
    ask,
    async askWith(route, credential) {
      const { line, headers, body } = route.request;
      const response = await sendRaw(app.url, line, {
        headers: { ...headers, ...credential },
        ...(body !== undefined && { body }),
      });
      return judge(route, response);
    },
    async askTogether(cells) {
      const responses = await Promise.all(cells.map((cell) => send(cell, cell.route.request)));
      if ((await undo()).length === 0)
        return responses.map((response, at) => verdictOf((cells[at] as Cell).route, response));
      // Which of them wrote is seen one by one.
      const said: string[] = [];
      for (const cell of cells) said.push(await ask(cell));
      return said;
    },
    enter,
    sendMalformed: (cell) =>
      send(cell, { ...cell.route.request, headers: { 'content-type': 'application/json' }, body: '{"' }),
  };
}

/** Reads can run many at a time, and leave nothing to undo. */
export const onlyReads = ({ request }: AccessCase): boolean => request.line.startsWith('GET ');

/**
 * Situations that matter: archiving does not affect reads, and parts that are turned off affect only their
 * own paths.
 */
function situationsOf({ method, path, access }: Endpoint): readonly Situation[] {
  if (!['project', 'group', 'snippet'].includes(access.sentence.on)) return ['private'];
  const ofPart =
    /repository|wikis|releases|snippets|issues|merge_requests|search|fork|alert|todo|events/.test(path);
  return situationNames.filter((name) => {
    if (name === 'archived') return method !== 'GET';
    return ofPart || (name !== 'members' && name !== 'off');
  });
}

function verdictOf({ endpoint, opened }: AccessCase, response: RawResponse): string {
  if (opened && !opened(response)) return response.status < 300 ? 'no' : `${response.status}`;
  if (response.status >= 300 && response.status !== endpoint?.status && !opened) return `${response.status}`;
  // For a list, the number of its records says more.
  const list: unknown = endpoint?.page === undefined ? undefined : JSON.parse(response.text);
  return Array.isArray(list) ? `yes ${list.length}` : 'yes';
}
