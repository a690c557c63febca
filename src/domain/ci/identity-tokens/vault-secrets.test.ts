import { expect, test } from 'vitest';
import type { Json } from '../file/plan.ts';
import { sentSecrets } from './vault-secrets.ts';

const variables: Record<string, string> = {
  VAULT_SERVER_URL: 'https://vault.example.com',
  VAULT_AUTH_ROLE: 'mason',
};
const ID = { key: 'ID', value: 'ey1' };
const OTHER = { key: 'OTHER', value: 'ey2' };

const server = (jwt: string) => ({
  url: 'https://vault.example.com',
  namespace: '',
  auth: { name: 'jwt', path: 'jwt', data: { jwt, role: 'mason' } },
});
const place = (engine: string, path: string, field: string, name = 'kv-v2') => ({
  engine: { name, path: engine },
  path,
  field,
});

test.each<[Json, (typeof ID)[], unknown]>([
  [null, [], {}],
  [
    { P: { vault: 'a/b/c' } },
    [ID],
    { P: { vault: { server: server('ey1'), ...place('kv-v2', 'a/b', 'c') }, file: true } },
  ],
  [
    { P: { vault: 'a/b@ops/team', file: false, token: '$OTHER' } },
    [ID, OTHER],
    { P: { vault: { server: server('ey2'), ...place('ops/team', 'a', 'b') }, file: false } },
  ],
  [
    { P: { vault: { engine: { name: 'kv-v1', path: 'ops' }, path: 'a/b', field: 'c' }, token: `\${ID}` } },
    [ID, OTHER],
    { P: { vault: { server: server('ey1'), ...place('ops', 'a/b', 'c', 'kv-v1') }, file: true } },
  ],
  [{ P: { vault: 'a' } }, [ID], undefined],
  [{ P: { vault: { path: 'a' } } }, [ID], undefined],
  [{ P: { azure_key_vault: { name: 'a' } } }, [ID], undefined],
  [{ P: { vault: 'a/b' } }, [], undefined],
  [{ P: { vault: 'a/b' } }, [ID, OTHER], undefined],
  [{ P: { vault: 'a/b', token: '$NONE' } }, [ID], undefined],
])('the secrets %j with %j', (secrets, identities, sent) =>
  expect(sentSecrets(secrets, identities, (name) => variables[name])).toEqual(sent),
);
