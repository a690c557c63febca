/** Changes error-tracking settings and client keys, each in one transaction with its audit event. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Announcement, announceAll } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { invalid, notFound, type ValidationMessages } from '../../../platform/failure.ts';
import { seal } from '../../../platform/secret.ts';
import { makeKey } from './client-keys.ts';
import { type KeyRow, lockKey, lockSettings, type SettingsRow } from './queries.ts';
import type { ChangeSettings } from './schema.ts';

type Audited = { actor: Actor; project: AuthorizedProject };

const announcement = (
  { actor, project }: Audited,
  event: string,
  details: Record<string, Json>,
): Announcement => ({
  author: actor,
  audit: { entity: { type: 'Project', id: project.id, path: project.fullPath }, event, details },
});

const settingNames = [
  'active',
  'integrated',
  'keep_addresses',
  'project_name',
  'external_url',
  'api_url',
] as const;

/** One audit event for each changed setting; a changed token is announced without its value. */
function announceChanges(tx: Db, by: Audited, before: SettingsRow | undefined, after: SettingsRow) {
  const event = before ? 'error_tracking_setting_updated' : 'error_tracking_setting_created';
  const told = (change: string, values: Record<string, Json>) =>
    announcement(by, event, { change, ...values, target_type: 'ErrorTracking::ProjectErrorTrackingSetting' });
  const changes = settingNames
    .filter((name) => (before?.[name] ?? null) !== after[name])
    .map((name) => told(name, { from: before?.[name] ?? null, to: after[name] }));
  const isAnother = String(before?.token_sealed ?? null) !== String(after.token_sealed);
  return announceAll(tx, isAnother ? [...changes, told('token', {})] : changes);
}

const isWebAddress = (text: string): boolean => {
  const url = URL.parse(text);
  return /^https?:$/.test(url?.protocol ?? '') && url?.username === '' && url.password === '';
};

/** Refuses an external tracker's address that is not a web address, with 400. */
function checkAddresses({ api_url, external_url }: Pick<SettingsRow, 'api_url' | 'external_url'>): void {
  const messages: ValidationMessages = {};
  const blocked = ['is blocked: only http and https'];
  if (api_url !== null && !isWebAddress(api_url)) messages.api_url = blocked;
  if (external_url !== null && !isWebAddress(external_url)) messages.tracker_external_url = blocked;
  if (Object.keys(messages).length > 0) throw invalid(messages);
}

/**
 * Creates the settings, or changes them (spec: Error tracking, PUT): 400 where an external tracker without an
 * address would be turned on.
 */
export const replaceSettings = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  { active, integrated }: { active: boolean; integrated: boolean },
): Promise<SettingsRow> =>
  inTransaction(db, async (tx) => {
    const before = await lockSettings(tx, project.id);
    if (active && !integrated && !before?.api_url) throw invalid({ api_url: ["can't be blank"] });
    const time = now();
    const after = await tx
      .insertInto('error_tracking_settings')
      .values({ project_id: project.id, active, integrated, created_at: time, updated_at: time })
      .onConflict((conflict) =>
        conflict.column('project_id').doUpdateSet({ active, integrated, updated_at: time }),
      )
      .returningAll()
      .executeTakeFirstOrThrow();
    await announceChanges(tx, { actor, project }, before, after);
    return after;
  });

/** An empty text removes the value. */
const given = (text: string | null | undefined, before: string | null): string | null =>
  text === undefined ? before : text?.trim() || null;

/** Returns the settings after the change; 404 where the project has none. */
export const changeSettings = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: ChangeSettings,
  secretKey: string,
): Promise<SettingsRow> =>
  inTransaction(db, async (tx) => {
    const before = found(await lockSettings(tx, project.id), 'Error Tracking Setting');
    const { active, integrated = before.integrated, keep_addresses = before.keep_addresses } = input;
    const api_url = given(input.api_url, before.api_url);
    const changed = {
      active,
      integrated,
      keep_addresses,
      project_name: given(input.project_name, before.project_name),
      external_url: given(input.tracker_external_url ?? input.sentry_external_url, before.external_url),
      api_url,
      // A new address drops the token: else a member who does not know it could have it sent there.
      token_sealed: sealed(input.token, api_url === before.api_url ? before.token_sealed : null, secretKey),
    };
    checkAddresses(changed);
    const after = await tx
      .updateTable('error_tracking_settings')
      .set({ ...changed, updated_at: now() })
      .where('project_id', '=', project.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await announceChanges(tx, { actor, project }, before, after);
    return after;
  });

function sealed(token: string | null | undefined, before: Buffer | null, secretKey: string): Buffer | null {
  if (token === undefined) return before;
  return token === null || token === '' ? null : Buffer.from(seal(secretKey, token));
}

const announceKey = (tx: Db, by: Audited, event: string, key: KeyRow, details: Record<string, Json> = {}) =>
  announceAll(tx, [
    announcement(by, event, {
      target_id: key.id,
      target_type: 'ErrorTracking::ClientKey',
      target_details: key.public_key,
      ...details,
    }),
  ]);

export const createKey = (db: Db, actor: Actor, project: AuthorizedProject): Promise<KeyRow> =>
  inTransaction(db, async (tx) => {
    const time = now();
    const key = await tx
      .insertInto('error_tracking_client_keys')
      .values({ project_id: project.id, public_key: makeKey(), created_at: time, updated_at: time })
      .returningAll()
      .executeTakeFirstOrThrow();
    await announceKey(tx, { actor, project }, 'error_tracking_client_key_created', key);
    return key;
  });

/** Turns a key on or off. */
export const changeKey = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  { key_id, active }: { key_id: number; active: boolean },
): Promise<KeyRow> =>
  inTransaction(db, async (tx) => {
    const before = found(await lockKey(tx, project.id, key_id));
    if (before.active === active) return before;
    const key = await tx
      .updateTable('error_tracking_client_keys')
      .set({ active, updated_at: now() })
      .where('id', '=', key_id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const details = { change: 'active', from: before.active, to: active };
    await announceKey(tx, { actor, project }, 'error_tracking_client_key_updated', key, details);
    return key;
  });

/** Returns the deleted key. */
export const deleteKey = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<KeyRow> =>
  inTransaction(db, async (tx) => {
    const key = await lockKey(tx, project.id, id);
    if (!key) throw notFound();
    unmodified(key.updated_at);
    await ahead(tx).deleteFrom('error_tracking_client_keys').where('id', '=', id).execute();
    await announceKey(tx, { actor, project }, 'error_tracking_client_key_deleted', key);
    return key;
  });
