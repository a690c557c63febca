/** The spec's "Proxy rule", over HTTP and through small proxies that keep it and break it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../support/app.ts';
import { makeProject } from '../../support/factories.ts';
import { sendRaw } from '../../support/raw-http.ts';

const ashlar = useApp();
const headers = { 'private-token': ROOT_TOKEN };

/** A reverse proxy that forwards what `rewrite` makes of the target. */
function useProxy(rewrite: (target: string) => string): () => string {
  let server: Server;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const line = `${request.method} ${rewrite(request.url ?? '/')}`;
      const answer = await sendRaw(ashlar.url, line, { headers });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  return () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('Proxy rule', () => {
  const careful = useProxy((target) => target);
  const decoding = useProxy((target) => target.replaceAll(/%2F|%3F|%40/gi, decodeURIComponent));
  const canonicalizing = useProxy(
    (target) => new URL(target.replaceAll(/%2F/gi, '/'), 'http://proxy').pathname,
  );

  const status = async (proxy: () => string, path: string): Promise<number> =>
    (await sendRaw(proxy(), `GET /api/v4${path}`)).status;

  it('a proxy that decodes / before forwarding produces 404', async () => {
    const { path_with_namespace: path } = await makeProject(ashlar);
    expect(await status(careful, `/projects/${encodeURIComponent(path)}`)).toBe(200);
    expect(await status(decoding, `/projects/${encodeURIComponent(path)}`)).toBe(404);
  });

  it.each(['what?for', 'either/or', 'a/b@c?d'])(
    'a proxy that decodes %s in a parameter produces 404',
    async (key) => {
      const path = `/users/1/custom_attributes/${encodeURIComponent(key)}`;
      expect((await sendRaw(ashlar.url, `PUT /api/v4${path}?value=x`, { headers })).status).toBe(200);
      expect(await status(careful, path)).toBe(200);
      expect(await status(decoding, path)).toBe(404);
    },
  );

  it('an @ alone means the same encoded or not: decoding it loses nothing', async () => {
    const path = '/users/1/custom_attributes/me%40home';
    expect((await sendRaw(ashlar.url, `PUT /api/v4${path}?value=x`, { headers })).status).toBe(200);
    expect(await status(decoding, path)).toBe(200);
  });

  it('the proxy must not canonicalize the path: dots inside a parameter are part of it', async () => {
    const path = `/users/1/custom_attributes/${encodeURIComponent('x/../y')}`;
    expect((await sendRaw(ashlar.url, `PUT /api/v4${path}?value=x`, { headers })).status).toBe(200);
    expect(await status(careful, path)).toBe(200);
    expect(await status(canonicalizing, path)).toBe(404);
  });
});
