/** What of a hook is sealed: its address, token, headers and variables. */
import { unseal } from '../../../platform/secret.ts';
import type { HookRow } from './queries.ts';
import type { Values } from './rules.ts';

export type HookSecrets = { url: string; token: string | null; headers: Values; variables: Values };

type Sealed = Pick<HookRow, 'url_sealed' | 'token_sealed' | 'custom_headers_sealed' | 'url_variables_sealed'>;

export function readSecrets(key: string, row: Sealed): HookSecrets {
  const values = (sealed: string | null): Values => (sealed === null ? {} : JSON.parse(unseal(key, sealed)));
  return {
    url: unseal(key, row.url_sealed),
    token: row.token_sealed === null ? null : unseal(key, row.token_sealed),
    headers: values(row.custom_headers_sealed),
    variables: values(row.url_variables_sealed),
  };
}
