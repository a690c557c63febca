/** Trigger tokens as records. */
import type { Static } from 'typebox';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { presentUserBasic, type Surroundings } from '../../../kernel/users/records.ts';
import { unseal } from '../../../platform/secret.ts';
import type { TriggerRow } from './queries.ts';
import { shortToken } from './rules.ts';
import type { Trigger } from './schema.ts';

type Context = {
  services: Needs<'secretKey' | 'baseUrl'>;
  settings: Surroundings['settings'];
  actor: Actor;
};

export function presentTrigger(
  { services, settings, actor }: Context,
  row: TriggerRow,
): Static<typeof Trigger> {
  const token = unseal(services.secretKey, row.token_sealed);
  return {
    id: row.id,
    token: row.owner_id === actor.id ? token : shortToken(token),
    description: row.description,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    last_used: row.last_used?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    owner: presentUserBasic({ baseUrl: services.baseUrl(), settings }, { ...row, id: row.owner_id }),
  };
}
