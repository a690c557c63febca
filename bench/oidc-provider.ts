/**
 * The baseline of our identity provider: oidc-provider in memory, one confidential client, and COUNT refresh
 * tokens of SCOPES. Usage: node bench/oidc-provider.ts COUNT SCOPES; prints one line of JSON.
 */

import { generateKeyPair } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import Provider from 'oidc-provider';
// @ts-expect-error: not described
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js';
// @ts-expect-error: not described
import LRU from 'oidc-provider/lib/helpers/lru.js';

/** Its in-memory adapter, with memory for all entries of the bench: by default it keeps only the last thousand. */
const storage = new LRU({ maxSize: 10_000_000 });
class RoomyAdapter extends MemoryAdapter {
  constructor(model: string) {
    super(model, storage);
  }
}

const [count = '1', scope = 'openid'] = process.argv.slice(2);
const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });

const clientId = 'bench';
const clientSecret = 'a-secret-of-the-bench-that-is-long-enough';
const provider = new Provider(url, {
  adapter: RoomyAdapter as never,
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: ['https://client.example/back'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_post',
      introspection_endpoint_auth_method: 'client_secret_post',
    } as never,
  ],
  scopes: ['openid', 'offline_access', 'api'],
  features: { introspection: { enabled: true }, devInteractions: { enabled: false } },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  rotateRefreshToken: true,
  ttl: { AccessToken: 7_200, RefreshToken: 86_400, IdToken: 120, Grant: 86_400 },
  jwks: {
    keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'bench' } as never],
  },
});

const client = await provider.Client.find(clientId);
if (!client) throw new Error('no client');
const refreshTokens: string[] = [];
let accessToken = '';
for (let made = 0; made < Number(count); made++) {
  const accountId = `user-${made}`;
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(scope);
  const grantId = await grant.save();
  const common = { accountId, client, grantId, scope, gty: 'authorization_code' } as never;
  refreshTokens.push(await new provider.RefreshToken(common).save());
  accessToken = await new provider.AccessToken(common).save();
}
provider.on('grant.error', (_ctx, error) => console.error(error.error_detail ?? error.message));
server.on('request', provider.callback());
console.log(JSON.stringify({ url, clientId, clientSecret, refreshTokens, accessToken }));
