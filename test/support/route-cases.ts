/** The routes beside the API's endpoints: git, the container registry, files, pages and their forms. */
import { createHash } from 'node:crypto';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import type { AccessWorld } from './access-world.ts';
import type { TestApp } from './app.ts';
import type { CallerName } from './callers.ts';
import type { GoodRequest } from './good-requests.ts';
import { makeKeyedCases } from './keyed-cases.ts';
import type { RawResponse } from './raw-http.ts';
import { type Situation, situationNames } from './situations.ts';

/** The credential of a caller: to the API, to a page with the cookie of a session, to git by name and password. */
export type Credential = 'token' | 'session' | 'basic';

export type AccessCase = {
  title: string;
  endpoint?: Endpoint;
  request: GoodRequest;
  credential: Credential;
  situations: readonly Situation[];
  /** The callers that try, where not all do. */
  callers?: readonly CallerName[];
  /** It refuses every caller. */
  shut?: boolean;
  /** Whether the response is a success; by default a status below 300 is. */
  opened?(response: RawResponse): boolean;
};

const packet = (text: string): string => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;

/** A pack without an object in it. */
function emptyPack(): Buffer {
  const head = Buffer.from('5041434b0000000200000000', 'hex');
  return Buffer.concat([head, createHash('sha1').update(head).digest()]);
}

/** A branch more, at a commit that is there. */
const push = (head: string): Buffer =>
  Buffer.concat([
    Buffer.from(`${packet(`${'0'.repeat(40)} ${head} refs/heads/pushed\0report-status agent=test`)}0000`),
    emptyPack(),
  ]);
const fetch = (head: string): string => `${packet(`want ${head}\n`)}0000${packet('done\n')}`;

async function repositories(app: TestApp, { places }: AccessWorld) {
  const { sql } = app.app.services.database;
  const [ids] = await sql<{ personal: number; inside: number }[]>`
    select max(id) filter (where project_id is null) as personal, max(id) filter (where project_id = ${places.project}) as inside
    from snippets`;
  return {
    project: 'world/world',
    'project wiki': 'world/world.wiki',
    'group wiki': 'world.wiki',
    snippet: `snippets/${ids?.personal}`,
    'project snippet': `world/world/snippets/${ids?.inside}`,
  };
}

/** Fetches and pushes, by the protocol's own requests. */
async function gitCases(app: TestApp, world: AccessWorld): Promise<AccessCase[]> {
  const routes: AccessCase[] = [];
  for (const [name, path] of Object.entries(await repositories(app, world))) {
    const advertised = await app.call(`GET /${path}.git/info/refs`, {
      raw: true,
      query: 'service=git-upload-pack',
      headers: world.credentials('admin', 'basic').headers,
    });
    // The length of its line stands before the name of the first object.
    const head = /[0-9a-f]{4}([0-9a-f]{40}) /.exec(advertised.text)?.[1];
    if (head === undefined) throw new Error(`${name}: ${advertised.status} ${advertised.text}`);
    const at = (line: string, headers: Record<string, string> = {}, body?: string | Buffer): GoodRequest => ({
      line: line.replace('PATH', `/${path}.git`),
      headers,
      ...(body !== undefined && { body }),
    });
    const type = (service: string) => ({ 'content-type': `application/x-git-${service}-request` });
    const common = { credential: 'basic', situations: situationNames } as const;
    routes.push(
      {
        ...common,
        title: `git: refs to fetch of a ${name}`,
        request: at('GET PATH/info/refs?service=git-upload-pack'),
      },
      {
        ...common,
        title: `git: refs to push to a ${name}`,
        request: at('GET PATH/info/refs?service=git-receive-pack'),
      },
      {
        ...common,
        title: `git: fetch a ${name}`,
        request: at('POST PATH/git-upload-pack', type('upload-pack'), fetch(head)),
        opened: ({ text }) => text.includes('PACK'),
      },
      {
        ...common,
        title: `git: push to a ${name}`,
        request: at('POST PATH/git-receive-pack', type('receive-pack'), push(head)),
        // A snippet has one branch, and refuses any other to users who may push.
        opened: ({ text }) =>
          (name.includes('snippet') ? /(ok|ng) refs\/heads\/pushed/ : /ok refs\/heads\/pushed/).test(text),
      },
    );
  }
  return routes;
}

/** Whether the token that the registry gave grants the action. */
function isGranted({ status, text }: RawResponse, action: string): boolean {
  if (status !== 200) return false;
  const [, claims = ''] = String(JSON.parse(text).token).split('.');
  const { access } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  return access.some(({ actions }: { actions: string[] }) => actions.includes(action));
}

/** Tokens for an image of the project: all that the registry does goes by them. */
const registryCases = (): AccessCase[] =>
  ['pull', 'push', 'delete', '*'].map((action) => ({
    title: `registry: a token to ${action} an image`,
    request: {
      line: `GET /jwt/auth?service=container_registry&scope=repository:world/world/image:${action}`,
      headers: {},
    },
    credential: 'basic',
    situations: situationNames,
    opened: (response) => isGranted(response, action),
  }));

/**
 * Callers who differ in what they may read; pages are slower than endpoints, and show nothing that those do
 * not.
 */
const readers: readonly CallerName[] = [
  'anonymous',
  'blocked',
  'outsider',
  'external',
  'auditor',
  'guest',
  'author',
  'developer',
  'owner',
  'admin',
];

const leadsOn = ({ status }: RawResponse): boolean => status === 302;

/** Their pages are the same for all, or one's own; those of git have cases of their own, and those of Git LFS tests. */
const apart = new Set([
  ...['documentation', 'git-http', 'lfs', 'members', 'operations', 'registry', 'sign-in', 'topics'],
]);

/** Paths of pages and files, whose parameters name objects in the world. */
async function pageCases(app: TestApp, world: AccessWorld): Promise<AccessCase[]> {
  const { sql } = app.app.services.database;
  const { project, group } = world.places;
  const [upload] = await sql<{ secret: string; filename: string }[]>`
    select secret, filename from uploads where project_id = ${project} order by id desc limit 1`;
  const [groupUpload] = await sql<{ secret: string; filename: string }[]>`
    select secret, filename from uploads where namespace_id = ${group} order by id desc limit 1`;
  const ids = await repositories(app, world);
  const snippet = ids['project snippet'].split('/').at(-1) ?? '';
  const routes = app.app.capabilities
    .filter(({ name }) => !apart.has(name))
    .flatMap(({ routes = [], pages = [] }) => [...routes, ...pages.map((page) => page(app.app.services))])
    .filter(({ method, path }) => method === 'GET' && !/oauth\/|well-known|unsubscribe|authorize/.test(path));
  const [pictured] = await sql<{ id: number }[]>`select id from users where avatar is not null limit 1`;
  const ownersOfAvatars: Record<string, number> = { user: pictured?.id ?? 0, group, project };
  const [images] = await sql<{ image: number; applications: number[] }[]>`
    select (select max(id) from metric_images) as image,
      array(select id from oauth_applications where user_id is not null or namespace_id is not null order by id) as applications
    from projects where id = ${project}`;
  const [evidence] = await sql<{ id: number }[]>`
    select e.id from release_evidences e join releases r on r.id = e.release_id
    where r.project_id = ${project} and r.tag = 'person-1'`;
  const values: Record<string, string | number> = {
    sha: 'main',
    iid: 1,
    error_id: 1,
    filename: upload?.filename ?? '',
    secret: upload?.secret ?? '',
    image: images?.image ?? 0,
    tag: 'person-1',
    ref: 'main',
    file: `${evidence?.id}.json`,
  };
  return routes.map(({ path }) => {
    const [, owner = ''] = /^\/uploads\/-\/system\/(\w+)\/avatar\//.exec(path) ?? [];
    const ofGroup = /epics|\/-\/group\/|\/groups\//.test(path);
    const home = ofGroup ? 'groups/world' : 'world/world';
    const at: Record<string, string | number> = {
      ...values,
      id: path.includes('/snippets/')
        ? path.startsWith('/-/')
          ? ids.snippet.replace('snippets/', '')
          : snippet
        : ofGroup
          ? group
          : project,
      ...(path.includes('metric_images') && { filename: 'stone.gif' }),
      section: 'sign_in',
      ...(owner !== '' && { id: ownersOfAvatars[owner] ?? 0, filename: 'stone.gif' }),
      application_id: path.startsWith('/admin') ? 1 : (images?.applications[ofGroup ? 1 : 0] ?? 0),
      ...(ofGroup && { secret: groupUpload?.secret ?? '', filename: groupUpload?.filename ?? '' }),
    };
    const ends: Record<string, string> = {
      compare: 'person-1...main',
      wikis: 'person-1',
      commits: 'main',
      tree: 'main/docs',
      tags: 'person-1',
      archive: 'person-1/world.zip',
      releases: 'bin/person-1',
      badges: 'main/pipeline.svg',
      jobs: 'a.txt',
    };
    const ofJobAtRef = path.includes('/jobs/artifacts/:ref');
    const part = (/\/-\/(\w+)/.exec(path) ?? /\/(\w+)\/\*$/.exec(path))?.[1] ?? '';
    const target = path
      .replace(':path+', home)
      .replace(/\([^)]*\)/g, '')
      .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(at[name] ?? 1))
      .replace('*', path.includes('/snippets/') ? 'main/person-1' : (ends[part] ?? 'main/person-1'));
    return {
      title: `GET ${path}`,
      request: { line: `GET ${target}${ofJobAtRef ? '?job=person-1' : ''}`, headers: {} },
      credential: 'session',
      situations: path.includes(':path+') ? ['private', 'public', 'members'] : ['private'],
      callers: readers,
      ...((path.includes('/downloads/') || ofJobAtRef) && { opened: leadsOn }),
    };
  });
}

export async function makeRouteCases(app: TestApp, world: AccessWorld): Promise<AccessCase[]> {
  const keyed = await makeKeyedCases(app, world);
  return [...(await gitCases(app, world)), ...registryCases(), ...(await pageCases(app, world)), ...keyed];
}
