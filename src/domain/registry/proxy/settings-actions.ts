/** Changes how a group's dependency proxy is set, and removes what it keeps. */
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import { seal } from '../../../platform/secret.ts';
import { type ProxySettingsRow, selectProxySettings } from './queries.ts';
import { purgeLater } from './removal.ts';
import type { ProxySettingsUpdate } from './schema.ts';

type Context = { db: Db; actor: Actor; subject: AuthorizedGroup };

const audit = (tx: Db, { actor, subject }: Context, event: string): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event,
      details: {
        target_id: subject.id,
        target_type: 'DependencyProxy::GroupSetting',
        target_details: subject.row.full_path,
      },
    },
  });

/** With another name comes another secret: nobody sends the one of before to a place of their own under it. */
function credentialsAfter(
  before: ProxySettingsRow,
  { identity, secret }: ProxySettingsUpdate,
  secretKey: string,
): Pick<ProxySettingsRow, 'identity' | 'secret_sealed'> {
  const name = identity === undefined ? before.identity : identity || null;
  if (name === null) {
    if (secret) throw invalid({ identity: ["can't be blank"] });
    return { identity: null, secret_sealed: null };
  }
  if (name.includes(':')) throw invalid({ identity: ['cannot have a colon'] });
  if (secret) return { identity: name, secret_sealed: seal(secretKey, secret) };
  if (name !== before.identity || secret === '') throw invalid({ secret: ["can't be blank"] });
  return { identity: name, secret_sealed: before.secret_sealed };
}

export const changeProxySettings = (
  context: Context,
  changes: ProxySettingsUpdate,
  secretKey: string,
): Promise<ProxySettingsRow> =>
  inTransaction(context.db, async (tx) => {
    const namespace_id = context.subject.id;
    await tx.selectFrom('namespaces').select('id').where('id', '=', namespace_id).forNoKeyUpdate().execute();
    const before = await selectProxySettings(tx, namespace_id);
    const row = {
      enabled: changes.enabled ?? before.enabled,
      image_ttl_enabled: changes.image_ttl_enabled ?? before.image_ttl_enabled,
      image_ttl: changes.image_ttl ?? before.image_ttl,
      ...credentialsAfter(before, changes, secretKey),
    };
    const updated_at = now();
    await tx
      .insertInto('dependency_proxy_settings')
      .values({ namespace_id, ...row, created_at: updated_at, updated_at })
      .onConflict((conflict) => conflict.column('namespace_id').doUpdateSet({ ...row, updated_at }))
      .execute();
    await audit(tx, context, 'dependency_proxy_settings_updated');
    return row;
  });

export const purgeProxy = (context: Context): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    await purgeLater(tx, { namespace_id: context.subject.id, before: now().toISOString() });
    await audit(tx, context, 'dependency_proxy_cache_purged');
  });
