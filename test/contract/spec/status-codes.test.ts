/** Every row of the spec's "Status codes", over HTTP. */
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { moveClock } from '../../../src/platform/clock.ts';
import { useApp } from '../../support/app.ts';
import { withSettings } from '../../support/browser.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser, uniqueName } from '../../support/factories.ts';

const ashlar = useApp({ env: { ASHLAR_TRUSTED_PROXIES: '127.0.0.1' } });

/** Requests under way, without the one that reads the metric. */
async function inFlight(): Promise<number> {
  const { text } = await ashlar.call('GET /-/metrics', { raw: true });
  return Number(/^http_requests_in_flight (\d+)/m.exec(text)?.[1]) - 1;
}

/** Repeats the request until the response is the wanted one, within ten seconds; the last response. */
async function until<T>(ask: () => Promise<T>, wanted: (response: T) => boolean): Promise<T> {
  let response = await ask();
  for (let attempt = 0; attempt < 200 && !wanted(response); attempt++) {
    await wait(50);
    response = await ask();
  }
  return response;
}

describe('Status codes', () => {
  it('200 OK: GET, PUT or PATCH succeeded, the resource as JSON', async () => {
    const project = await makeProject(ashlar);
    for (const [line, body] of [
      [`GET /projects/${project.id}`, undefined],
      [`PUT /projects/${project.id}`, { description: 'changed' }],
      ['PATCH /user/status', { message: 'here' }],
    ] as const) {
      const response = await ashlar.root(line, body && { body });
      expect([line, response.status]).toEqual([line, 200]);
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(response.body).toEqual(expect.any(Object));
    }
  });

  it('201 Created: POST succeeded, the resource is returned', async () => {
    const path = uniqueName('new');
    const response = await ashlar.root('POST /projects', { body: { name: path } });
    expect([response.status, response.body.path]).toEqual([201, path]);
  });

  it('202 Accepted: the resource is scheduled for processing', async () => {
    const group = await makeGroup(ashlar);
    const response = await ashlar.root(`DELETE /groups/${group.id}`);
    expect([response.status, response.body]).toEqual([202, { message: '202 Accepted' }]);
  });

  it('204 No Content: request fulfilled, no body', async () => {
    const [project, user] = [await makeProject(ashlar), await makeUser(ashlar)];
    await addMember(ashlar, `projects/${project.id}`, user, 30);
    const response = await ashlar.root(`DELETE /projects/${project.id}/members/${user.id}`);
    expect([response.status, response.text]).toEqual([204, '']);
  });

  it('301 Moved Permanently: to the URL in the Location header', async () => {
    const project = await makeProject(ashlar);
    bodyOf(await ashlar.root(`PUT /projects/${project.id}`, { body: { path: uniqueName('away') } }), 200);
    const response = await ashlar.root(`GET /projects/${encodeURIComponent(project.path_with_namespace)}`);
    expect(response.status).toBe(301);
    expect(response.headers.get('location')).toBe(`${ashlar.url}/api/v4/projects/${project.id}`);
  });

  it('304 Not Modified: resource unchanged since the last request', async () => {
    const project = await makeProject(ashlar);
    const first = await ashlar.root(`GET /projects/${project.id}`);
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    const again = await ashlar.root(`GET /projects/${project.id}`, { headers });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([
      304,
      '',
      headers['if-none-match'],
    ]);
    bodyOf(await ashlar.root(`PUT /projects/${project.id}`, { body: { description: 'changed' } }), 200);
    expect((await ashlar.root(`GET /projects/${project.id}`, { headers })).status).toBe(200);
  });

  it('400 Bad Request: a required attribute is missing or an attribute failed validation', async () => {
    expect((await ashlar.root('POST /groups', { body: { name: 'no path' } })).status).toBe(400);
    const wrong = { name: 'a group', path: 'not a path' };
    expect((await ashlar.root('POST /groups', { body: wrong })).status).toBe(400);
  });

  it('401 Unauthorized: a valid token is needed', async () => {
    expect((await ashlar.call('GET /user')).status).toBe(401);
    expect((await ashlar.as('no-such-token')('GET /user')).status).toBe(401);
  });

  it('403 Forbidden: for example the user may not delete the project', async () => {
    const [project, user] = [await makeProject(ashlar), await makeUser(ashlar)];
    await addMember(ashlar, `projects/${project.id}`, user, 30);
    expect((await ashlar.as(user.token)(`DELETE /projects/${project.id}`)).status).toBe(403);
    expect((await ashlar.root(`GET /projects/${project.id}`)).status).toBe(200);
  });

  describe('404 Not Found', () => {
    it('unknown ID', async () => {
      expect((await ashlar.root('GET /projects/999999')).status).toBe(404);
    });
    it('no access', async () => {
      const [project, user] = [await makeProject(ashlar), await makeUser(ashlar)];
      expect((await ashlar.as(user.token)(`GET /projects/${project.id}`)).status).toBe(404);
    });
    it('a URL-encoded path parameter that was decoded on the way', async () => {
      const project = await makeProject(ashlar);
      expect((await ashlar.root(`GET /projects/${project.path_with_namespace}`)).status).toBe(404);
    });
  });

  it('405 Method Not Allowed: request not supported', async () => {
    const response = await ashlar.root('PATCH /projects/1');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PUT']);
  });

  it('409 Conflict: for example a duplicate project name', async () => {
    const project = await makeProject(ashlar, { name: 'only one', path: uniqueName('one') });
    const body = { name: 'only one', path: `${uniqueName('two')}` };
    const response = await ashlar.root('POST /projects', { body });
    expect([project.id > 0, response.status]).toEqual([true, 409]);
    expect(response.body).toEqual({ message: { name: ['has already been taken'] } });
  });

  it('412 Precondition Failed: If-Unmodified-Since on a delete of a resource modified in between', async () => {
    const project = await makeProject(ashlar);
    const headers = { 'if-unmodified-since': new Date().toUTCString() };
    const back = moveClock(5_000);
    try {
      bodyOf(await ashlar.root(`PUT /projects/${project.id}`, { body: { description: 'meanwhile' } }), 200);
    } finally {
      back();
    }
    const denied = await ashlar.root(`DELETE /projects/${project.id}`, { headers });
    expect([denied.status, denied.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    const later = { 'if-unmodified-since': new Date(Date.now() + 60_000).toUTCString() };
    expect((await ashlar.root(`DELETE /projects/${project.id}`, { headers: later })).status).toBe(202);
  });

  it('414 Request-URI Too Large: query string too long', async () => {
    const response = await ashlar.root('GET /users', { query: `search=${'x'.repeat(8_190)}` });
    expect([response.status, response.body]).toEqual([414, { message: '414 Request-URI Too Large' }]);
  });

  it('422 Unprocessable: the entity could not be processed', async () => {
    const group = await makeGroup(ashlar);
    expect((await ashlar.root(`POST /groups/${group.id}/archive`)).status).toBeLessThan(300);
    const again = await ashlar.root(`POST /groups/${group.id}/archive`);
    expect([again.status, again.body]).toEqual([422, { message: 'Group is already archived!' }]);
  });

  it('429 Too Many Requests: the rate limit was exceeded', async () => {
    const user = await makeUser(ashlar);
    await withSettings(ashlar, { users_get_by_id_limit: 1 }, async () => {
      const call = ashlar.as(user.token);
      expect((await call(`GET /users/${user.id}`)).status).toBe(200);
      expect((await call(`GET /users/${user.id}`)).status).toBe(429);
    });
  });

  it('500 Server Error: server fault, with a fixed text and where to find it in the log', async () => {
    const { sql } = ashlar.app.services.database;
    await sql`alter table custom_attributes rename to custom_attributes_away`;
    try {
      const response = await ashlar.root('GET /users/1/custom_attributes');
      const request_id = response.headers.get('x-request-id');
      expect(response.status).toBe(500);
      expect(response.body).toEqual({ message: '500 Internal Server Error', request_id });
      expect(ashlar.log.join('')).toContain(request_id);
    } finally {
      await sql`alter table custom_attributes_away rename to custom_attributes`;
    }
  });

  describe('503 Service Unavailable', () => {
    it('server temporarily overloaded: more is refused at once, and who hung up is not counted', async () => {
      const sockets: Socket[] = [];
      await ashlar.app.services.database.sql.begin(async (tx) => {
        await tx`lock table projects in access exclusive mode`;
        // Each waits for the lock, and more of them than are admitted: of many callers, since one alone is refused
        // before.
        for (let index = 0; index < 20; index++) {
          const request = `GET /api/v4/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 192.0.2.${index}\r\n\r\n`;
          const socket = connect({ host: '127.0.0.1', port: Number(new URL(ashlar.url).port) });
          socket.on('error', () => {});
          socket.write(request.repeat(100));
          sockets.push(socket);
        }
        const shed = await until(
          () => ashlar.call('GET /nowhere'),
          ({ status }) => status === 503,
        );
        expect([shed.status, shed.body.message]).toEqual([503, '503 Service Unavailable: overloaded']);
        expect(Number(shed.headers.get('retry-after'))).toBeGreaterThan(0);
        for (const socket of sockets) socket.destroy();
        await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
      });
      expect(await until(inFlight, (count) => count === 0)).toBe(0);
      expect((await ashlar.root('GET /version')).status).toBe(200);
    });

    it('maintenance: writes are refused, reads go on', async () => {
      await withSettings(
        ashlar,
        { maintenance_mode: true, maintenance_mode_message: 'Back soon' },
        async () => {
          const write = await ashlar.root('POST /projects', { body: { name: 'later' } });
          expect([write.status, write.body]).toEqual([503, { message: 'Back soon' }]);
          expect((await ashlar.root('GET /projects')).status).toBe(200);
        },
      );
    });
  });
});

// Without a test: 200 to a DELETE. Every existing DELETE responds with 204, or 202 where the deletion is
// scheduled.
