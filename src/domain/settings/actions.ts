/** Changes of the instance: its settings and its feature flags, each in one transaction with its audit events. */

import { type AuditedEntity, announce } from '../../core/activity/announce.ts';
import type { Actor } from '../../core/identity/actor.ts';
import type { Services } from '../../core/services.ts';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';
import { featureDefinitions } from '../../core/settings/features.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { badRequest, invalid } from '../../platform/failure.ts';
import { lockSettings, writeFeatureGate } from './queries.ts';
import { applyChange, checkSettings, differences, refusedNames } from './rules.ts';
import type { SettingsInput } from './schema.ts';
import { sealSecrets, shownValue } from './secrets.ts';

const instance: AuditedEntity = { type: 'InstanceScope', id: 1, path: 'instance' };

/** Changes the settings and returns all of them; 400 for what is not supported, or not allowed together. */
export async function changeSettings(
  services: Services,
  db: Db,
  actor: Actor,
  input: SettingsInput,
): Promise<ApplicationSettings> {
  const refused = refusedNames(input);
  if (Object.keys(refused).length > 0) throw invalid(refused);
  const changed = await inTransaction(db, async (tx) => {
    const before = await lockSettings(tx);
    const after = applyChange(before, sealSecrets(services.secretKey, before, input));
    const messages = checkSettings(after, new Set(services.config.storages.keys()));
    if (Object.keys(messages).length > 0) throw invalid(messages);
    const changes = differences(before, after);
    if (changes.length === 0) return after;
    await services.settings.write(tx, Object.fromEntries(changes.map(({ name, to }) => [name, to])));
    for (const { name, from, to } of changes) {
      const details = { change: name, from: shownValue(name, from), to: shownValue(name, to) };
      await announce(tx, {
        author: actor,
        audit: { entity: instance, event: 'application_setting_updated', details },
      });
    }
    return after;
  });
  services.settings.forget();
  return changed;
}

const isFeature = (name: string): boolean => Object.hasOwn(featureDefinitions, name);

/** Switches a feature flag on or off; 400 for a flag that gates nothing here. */
export async function setFeature(
  services: Services,
  db: Db,
  actor: Actor,
  name: string,
  value: boolean,
): Promise<void> {
  if (!isFeature(name)) throw badRequest(`there is no feature flag ${name}`);
  await inTransaction(db, async (tx) => {
    const before = await writeFeatureGate(tx, name, value);
    const details = { change: name, from: before ?? null, to: String(value) };
    await announce(tx, { author: actor, audit: { entity: instance, event: 'feature_updated', details } });
  });
  services.features.forget();
}

/** Gives a feature flag its default again; nothing happens when it has it. */
export async function resetFeature(services: Services, db: Db, actor: Actor, name: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    const deleted = await tx
      .deleteFrom('feature_gates')
      .where('name', '=', name)
      .returning('value')
      .executeTakeFirst();
    if (!deleted) return;
    const details = { change: name, from: deleted.value, to: null };
    await announce(tx, { author: actor, audit: { entity: instance, event: 'feature_deleted', details } });
  });
  services.features.forget();
}
