/**
 * Each call that @gitbeaker/rest has leads to an endpoint, or is named under "Calls of clients that stay out" in
 * docs/divergences.md: its own requests are taken down, and nothing is sent.
 */
import { readFileSync } from 'node:fs';
import { Gitlab } from '@gitbeaker/rest';
import { expect, test } from 'vitest';
import { describedCapabilities } from '../../src/commands/openapi.ts';

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Resource = Record<string, (...given: unknown[]) => unknown>;

/** The requests of one call after the other: `GET /projects/1`. */
const requests: string[] = [];

const requesterFn = ({ url = '' }: { url?: string }) =>
  Object.fromEntries(
    methods.map((method) => [
      method,
      async (endpoint: unknown) => {
        const below = url.replace(/^.*\/api\/v4\/?/, '');
        const path = [below, String(endpoint)]
          .filter((part) => part !== '')
          .join('/')
          .replace(/^\/+/, '');
        requests.push(`${method.toUpperCase()} /${path.split('?')[0]}`);
        return { body: method === 'get' ? [] : {}, headers: {}, status: 200 };
      },
    ]),
  );

const file = { content: new Blob(['granite']), filename: 'granite.txt' };
const places = { projectId: 11, groupId: 11, userId: 11 };
const options = {
  ...places,
  email: 'ada@example.com',
  color: '#fff',
  keyId: 11,
  fingerprint: 'x',
  environmentId: 1,
};
const more = { runnerId: 11, token: 'x', jobId: 11, ref: 'main', jobToken: 'x', path: 'x', parentId: 11 };

/** Calls that take what others do not. */
const words: Record<string, unknown[]> = {
  'ProjectTemplates.all': [11, 'licenses'],
  'ProjectTemplates.show': [11, 'licenses', 'mit'],
  'GroupImportExports.import': [file, 'x', { name: 'x' }],
  'Groups.uploadAvatar': [11, file.content, { filename: file.filename }],
};

/** What the others are tried with, until one of them sends something. */
const attempts: unknown[][] = [
  [11, 12, 13, 14, 15, 16],
  [11, 12, 13, 14, 15, { ...options, ...more }],
  ...[0, 1, 2, 3, 4, 5].map((at) => [
    ...Array.from({ length: at }, (_, index) => 11 + index),
    { ...options, ...more },
  ]),
  ...[0, 1, 2, 3, 4].map((at) => [...Array.from({ length: at }, (_, index) => 11 + index), file, options]),
  ...[1, 2, 3].map((at) => [...Array.from({ length: at }, (_, index) => 11 + index), file, 'x', options]),
  [file.content, 'x', options],
  [[11], { ...options, ...more }],
];

const namesOf = (resource: Resource): string[] => {
  const names = new Set<string>(Object.keys(resource));
  for (let at = Object.getPrototypeOf(resource); at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  return [...names].filter((name) => name !== 'constructor' && typeof resource[name] === 'function');
};

/** The requests of all calls by the call's name, and the calls that sent nothing. */
async function takeDown(): Promise<{ sent: Map<string, string>; silent: string[] }> {
  const api = new Gitlab({ host: 'http://localhost', token: 'x', requesterFn } as never);
  const sent = new Map<string, string>();
  const silent: string[] = [];
  for (const [name, resource] of Object.entries(api as unknown as Record<string, Resource>)) {
    if (name === 'requester' || name === 'authHeaders' || typeof resource !== 'object') continue;
    for (const call of namesOf(resource)) {
      requests.length = 0;
      const own = words[`${name}.${call}`];
      for (const given of own ? [own] : attempts) {
        try {
          await resource[call]?.(...given);
        } catch {
          // It wants other arguments.
        }
        if (requests.length > 0) break;
      }
      const [request] = requests;
      if (request === undefined) silent.push(`${name}.${call}`);
      else sent.set(`${name}.${call}`, request);
    }
  }
  return { sent, silent };
}

const plain = (path: string) => path.replace(/\/-\//g, '/');
const toPattern = (path: string) =>
  new RegExp(
    `^${plain(path)
      .replace(/[.()+]/g, '\\$&')
      .replace(/:\w+|\{\w+\}/g, '[^/]+')
      .replace(/\*/g, '.*')}$`,
  );

const served = describedCapabilities().flatMap(({ endpoints, routes = [] }) => [
  ...endpoints.map(({ method, path, takesRest }) => ({
    method,
    pattern: toPattern(takesRest ? path.replace(/:\w+$/, '*') : path),
  })),
  ...routes.map(({ method, path }) => ({ method, pattern: toPattern(path.replace(/^\/api\/v4/, '')) })),
]);

const isServed = (request: string): boolean => {
  const [method, path = ''] = request.split(' ');
  return served.some((each) => each.method === method && each.pattern.test(plain(path)));
};

test('each call of gitbeaker leads to an endpoint, or is named', async () => {
  const { sent, silent } = await takeDown();
  expect(sent.size).toBeGreaterThan(900);
  const section = /^## Calls of clients that stay out\n([\s\S]*?)(?=^## )/m;
  const [, text = ''] = section.exec(readFileSync('docs/divergences.md', 'utf8')) ?? [];
  const named = [...text.matchAll(/`(\w+)(?:\.(\w+))?`/g)].map(([, resource, call]) => ({ resource, call }));
  const isNamed = (name: string) =>
    named.some(
      ({ resource, call }) => name === `${resource}.${call}` || (!call && name.startsWith(`${resource}.`)),
    );
  const unserved = new Map([...sent].filter(([, request]) => !isServed(request)));
  const missing = [...unserved].filter(([name]) => !isNamed(name));
  const idle = named.filter(({ resource, call }) =>
    call
      ? !unserved.has(`${resource}.${call}`)
      : ![...unserved.keys()].some((name) => name.startsWith(`${resource}.`)),
  );
  expect(missing).toEqual([]);
  expect(idle).toEqual([]);
  expect(silent).toEqual(['Jobs.showConnectedJob', 'Jobs.showConnectedJobK8Agents']);
});
