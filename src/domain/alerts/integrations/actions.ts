/** Creates, changes and deletes integrations of a project; of a key only the digest is stored. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { forbidden, invalid } from '../../../platform/failure.ts';
import { digest, randomHex } from '../../../platform/secret.ts';
import type { IntegrationChanges, NewIntegrationInput } from '../alerts/schema.ts';
import type { Mapping } from '../payloads/mapping.ts';
import type { AlertIntegrationRow, JsonObject, Kind } from '../records.ts';
import { changedMapping, sampledOf } from './rules.ts';

/** An integration with its new key, which is shown once. */
export type Keyed = { row: AlertIntegrationRow; key: string };

const IDENTIFIER_BYTES = 8;
const KEY_BYTES = 16;

/** Serialises changes, on which the number of integrations and the active one depend. */
async function lockIntegrations(tx: Db, projectId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`alert integrations ${projectId}`}, 0))`.execute(
    tx,
  );
}

const auditIntegration = (
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  change: 'created' | 'updated' | 'deleted' | 'key_reset',
  { id, name }: AlertIntegrationRow,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: { type: 'Project', id: project.id, path: project.fullPath },
      event: `alert_integration_${change}`,
      details: { target_id: id, target_type: 'AlertManagement::HttpIntegration', target_details: name },
    },
  });

/** Text first: the driver would send lists as PostgreSQL arrays. */
const jsonOf = (value: Mapping | JsonObject | null) =>
  value === null ? null : sql<Json>`${JSON.stringify(value)}::text::jsonb`;

function requireName(name: string): string {
  if (name.trim() === '') throw invalid({ name: ["can't be blank"] });
  return name.trim();
}

/** Deactivates other metrics integrations: only one is active (spec: Alert ingestion). */
async function stopOthers(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  { id, kind, active }: AlertIntegrationRow,
): Promise<void> {
  if (kind !== 'metrics' || !active) return;
  const stopped = await tx
    .updateTable('alert_integrations')
    .set({ active: false, updated_at: now() })
    .where('project_id', '=', project.id)
    .where('kind', '=', kind)
    .where('active', '=', true)
    .where('id', '<>', id)
    .returningAll()
    .execute();
  for (const row of stopped) await auditIntegration(tx, actor, project, 'updated', row);
}

const ofKind = (tx: Db, projectId: number, kind: Kind) =>
  tx
    .selectFrom('alert_integrations')
    .select('id')
    .where('project_id', '=', projectId)
    .where('kind', '=', kind)
    .limit(1)
    .executeTakeFirst();

/** Creates an integration; 403 for a second one of its type, or a mapping, in Free. */
export async function createIntegration(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: NewIntegrationInput,
  tier: string,
): Promise<Keyed> {
  const { type: kind, active = true } = input;
  const name = requireName(input.name);
  const custom = changedMapping({ kind, mapping: null, sample: null }, input, tier);
  const key = randomHex(KEY_BYTES);
  const row = await inTransaction(db, async (tx) => {
    await lockIntegrations(tx, project.id);
    if (tier === 'free' && (await ofKind(tx, project.id, kind))) throw forbidden();
    const time = now();
    const made = await tx
      .insertInto('alert_integrations')
      .values({
        project_id: project.id,
        kind,
        name,
        active,
        identifier: randomHex(IDENTIFIER_BYTES),
        key_digest: digest(key),
        mapping: jsonOf(custom?.mapping ?? null),
        sample: jsonOf(custom?.sample ?? null),
        created_at: time,
        updated_at: time,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await stopOthers(tx, actor, project, made);
    await auditIntegration(tx, actor, project, 'created', made);
    return made;
  });
  return { row, key };
}

/** The integration of the project; 404 without one. */
export async function findIntegration(
  db: Db,
  project: AuthorizedProject,
  id: number,
): Promise<AlertIntegrationRow> {
  const row = await db
    .selectFrom('alert_integrations')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('id', '=', id)
    .executeTakeFirst();
  return found(row, 'Integration');
}

/** The same, with the project's integrations locked. */
async function holdIntegration(tx: Db, project: AuthorizedProject, id: number): Promise<AlertIntegrationRow> {
  await lockIntegrations(tx, project.id);
  return findIntegration(tx, project, id);
}

/** Changes the given properties; 403 for a mapping in Free, 400 for one that does not fit the sample. */
export const updateIntegration = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  id: number,
  changes: IntegrationChanges,
  tier: string,
): Promise<AlertIntegrationRow> =>
  inTransaction(db, async (tx) => {
    const before = await holdIntegration(tx, project, id);
    const custom = changedMapping(sampledOf(before), changes, tier);
    const row = await tx
      .updateTable('alert_integrations')
      .set({
        ...(changes.name !== undefined && { name: requireName(changes.name) }),
        ...(changes.active !== undefined && { active: changes.active }),
        ...(custom && { mapping: jsonOf(custom.mapping), sample: jsonOf(custom.sample) }),
        updated_at: now(),
      })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await stopOthers(tx, actor, project, row);
    await auditIntegration(tx, actor, project, 'updated', row);
    return row;
  });

/** Replaces the key: the old one is refused at once. */
export async function resetKey(db: Db, actor: Actor, project: AuthorizedProject, id: number): Promise<Keyed> {
  const key = randomHex(KEY_BYTES);
  const row = await inTransaction(db, async (tx) => {
    const before = await holdIntegration(tx, project, id);
    const after = await tx
      .updateTable('alert_integrations')
      .set({ key_digest: digest(key), updated_at: now() })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await auditIntegration(tx, actor, project, 'key_reset', after);
    return after;
  });
  return { row, key };
}

/** Deletes the integration; its alerts stay. */
export const deleteIntegration = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await holdIntegration(tx, project, id);
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('alert_integrations').where('id', '=', row.id).execute();
    await auditIntegration(tx, actor, project, 'deleted', row);
  });
