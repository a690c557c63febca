/** Changes of the instance: its settings and its feature flags, each in one transaction with its audit events. */

import { type AuditedEntity, announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import type { FeatureGate } from '../../kernel/settings/queries.ts';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { invalid } from '../../platform/failure.ts';
import { untilOutdated } from '../../platform/recent.ts';
import { countActiveUsers, lockFeatureGate, lockSettings, updateFeatureGate } from './queries.ts';
import { applyChange, checkSettings, differences, refusedNames } from './rules.ts';
import type { SettingsInput } from './schema.ts';
import { sealSecrets, shownValue } from './secrets.ts';

const instance: AuditedEntity = { type: 'InstanceScope', id: 1, path: 'instance' };

/** Changes the settings and returns all of them; 400 for unsupported ones, or an invalid combination. */
export async function changeSettings(
  services: Needs<'config' | 'settings' | 'presence' | 'secretKey'>,
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
  // Also where nothing changed: an earlier change may not have reached all processes yet.
  await untilOutdated(services.presence);
  return changed;
}

/** The requested change of a flag: for everybody, for these actors, or for a percentage. */
export type FeatureWish =
  | { value: boolean; actors: readonly string[] }
  | { percentage: number; key: 'percentage_of_actors' | 'percentage_of_time' };

const closed = { value: 'false', actors: [], percentage_of_actors: 0, percentage_of_time: 0 };

/** The gate after the change: one for everybody replaces all others. */
function changeFeatureGate(gate: FeatureGate, wish: FeatureWish): FeatureGate {
  if ('key' in wish) return { ...gate, [wish.key]: wish.percentage };
  if (wish.actors.length === 0) return { ...closed, name: gate.name, value: String(wish.value) };
  const others = gate.actors.filter((actor) => !wish.actors.includes(actor));
  return { ...gate, actors: wish.value ? [...others, ...wish.actors] : others };
}

/** The gate as the audit log shows it. */
const shownFeatureGate = ({ value, ...gate }: FeatureGate): string => {
  const { actors, percentage_of_actors, percentage_of_time } = gate;
  const isPlain = actors.length === 0 && percentage_of_actors === 0 && percentage_of_time === 0;
  return isPlain
    ? value
    : JSON.stringify({ boolean: value, actors, percentage_of_actors, percentage_of_time });
};

/** Sets a feature flag, whatever its name, and returns its gate. */
export async function setFeature(
  services: Needs<'features' | 'presence'>,
  db: Db,
  actor: Actor,
  name: string,
  wish: FeatureWish,
): Promise<FeatureGate> {
  const set = await inTransaction(db, async (tx) => {
    const { isNew, ...before } = await lockFeatureGate(tx, name);
    const after = changeFeatureGate(before, wish);
    await updateFeatureGate(tx, after);
    const details = {
      change: name,
      from: isNew ? null : shownFeatureGate(before),
      to: shownFeatureGate(after),
    };
    await announce(tx, { author: actor, audit: { entity: instance, event: 'feature_updated', details } });
    return after;
  });
  services.features.forget();
  await untilOutdated(services.presence);
  return set;
}

/** Gives a feature flag its default again; no effect when it has it. */
export async function resetFeature(
  services: Needs<'features' | 'presence'>,
  db: Db,
  actor: Actor,
  name: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const deleted = await tx
      .deleteFrom('feature_gates')
      .where('name', '=', name)
      .returningAll()
      .executeTakeFirst();
    if (!deleted) return;
    const details = { change: name, from: shownFeatureGate(deleted), to: null };
    await announce(tx, { author: actor, audit: { entity: instance, event: 'feature_deleted', details } });
  });
  services.features.forget();
  await untilOutdated(services.presence);
}

/** Counts the users who take a seat, for this day; a later count of the day takes the place of an earlier one. */
export async function countUsers(db: Db): Promise<void> {
  const time = now();
  const values = { users: await countActiveUsers(db), counted_at: time };
  await db
    .insertInto('user_counts')
    .values({ day: time.toISOString().slice(0, 10), ...values })
    .onConflict((conflict) => conflict.column('day').doUpdateSet(values))
    .execute();
}
