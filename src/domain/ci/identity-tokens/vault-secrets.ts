/** The secrets that a runner fetches for a job from a vault (facts for CI: Job response JSON, secrets). Pure. */
import type { Json } from '../file/plan.ts';

type Identity = { key: string; value: string };

export type SentSecret = {
  vault: {
    server: {
      url: string;
      namespace: string;
      auth: { name: string; path: string; data: { jwt: string; role: string } };
    };
    engine: { name: string; path: string };
    path: string;
    field: string;
  };
  file: boolean;
};

type Hash = { [name: string]: Json };

const hashOf = (value: Json | undefined): Hash =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
const textOf = (value: Json | undefined, otherwise = ''): string =>
  typeof value === 'string' ? value : otherwise;

const KV = 'kv-v2';

/** `path/to/field@engine`, or the same in parts; undefined for what is neither. */
function placeOf(
  vault: Json | undefined,
): Pick<SentSecret['vault'], 'engine' | 'path' | 'field'> | undefined {
  if (typeof vault === 'string') {
    const [, path, field, engine = KV] = /^([^@]+)\/([^/@]+)(?:@(.+))?$/.exec(vault) ?? [];
    return path !== undefined && field !== undefined
      ? { engine: { name: KV, path: engine }, path, field }
      : undefined;
  }
  const { engine, path, field } = hashOf(vault);
  if (typeof path !== 'string' || typeof field !== 'string') return undefined;
  const { name, path: mount } = hashOf(engine);
  return { engine: { name: textOf(name, KV), path: textOf(mount, KV) }, path, field };
}

/** The token that proves who the job is: the one that the secret names, else the only one. */
function jwtOf(token: Json | undefined, identities: readonly Identity[]): string | undefined {
  if (typeof token !== 'string') return identities.length === 1 ? identities[0]?.value : undefined;
  const name = token.replace(/^\$\{?(\w+)\}?$/, '$1');
  return identities.find(({ key }) => key === name)?.value;
}

/** Each secret by its name; undefined where one is not of a vault, or nothing proves who asks for it. */
export function sentSecrets(
  secrets: Json,
  identities: readonly Identity[],
  variable: (name: string) => string | undefined,
): { [name: string]: SentSecret } | undefined {
  const sent: [string, SentSecret][] = [];
  for (const [name, secret] of Object.entries(hashOf(secrets))) {
    const { vault, file, token } = hashOf(secret);
    const place = placeOf(vault);
    const jwt = jwtOf(token, identities);
    if (!place || jwt === undefined) return undefined;
    const auth = {
      name: 'jwt',
      path: variable('VAULT_AUTH_PATH') ?? 'jwt',
      data: { jwt, role: variable('VAULT_AUTH_ROLE') ?? '' },
    };
    const server = {
      url: variable('VAULT_SERVER_URL') ?? '',
      namespace: variable('VAULT_NAMESPACE') ?? '',
      auth,
    };
    sent.push([name, { vault: { server, ...place }, file: file !== false }]);
  }
  return Object.fromEntries(sent);
}
