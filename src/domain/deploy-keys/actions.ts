/** Creates deploy keys, enables and removes them; a key without projects is deleted, unless it is public. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { type AuditedEntity, announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import { readSshKey, type SshKey } from '../../kernel/identity/ssh-key.ts';
import type { Eraser } from '../../kernel/namespaces/erasure-actions.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { forbidden, invalid } from '../../platform/failure.ts';
import {
  type DeployKeyRow,
  lockEnabledKey,
  lockProjectKey,
  type ProjectKeyRow,
  selectProjectKey,
} from './queries.ts';
import type { ChangeDeployKey, NewDeployKey } from './schema.ts';

const projectEntity = ({ id, fullPath }: AuthorizedProject): AuditedEntity => ({
  type: 'Project',
  id,
  path: fullPath,
});

const audit = (tx: Db, actor: Actor, entity: AuditedEntity, event: string, key: DeployKeyRow) =>
  announce(tx, {
    author: actor,
    audit: {
      entity,
      event,
      details: { target_id: key.id, target_type: 'DeployKey', target_details: key.title },
    },
  });

/** The public key in the request; 400 for an invalid one, or without a title. */
function readKey(input: NewDeployKey): SshKey {
  const key = readSshKey(input.key);
  if (!key) throw invalid({ key: ['is invalid'] });
  if (input.title.trim() === '') throw invalid({ title: ["can't be blank"] });
  if (input.expires_at && new Date(input.expires_at) <= now()) throw invalid({ key: ['has expired'] });
  return key;
}

/** Stores a key; 400 when it exists, as a user's too: a key identifies one of them. */
async function insertKey(tx: Db, actor: Actor, key: SshKey, input: NewDeployKey, isPublic: boolean) {
  const time = now();
  const { rows } = await sql<DeployKeyRow>`
    insert into deploy_keys
      (user_id, title, key, fingerprint, fingerprint_sha256, public, expires_at, created_at, updated_at)
    select ${actor.id}, ${input.title}, ${key.text}, ${key.fingerprint}, ${key.fingerprintSha256}, ${isPublic},
      ${input.expires_at ? new Date(input.expires_at) : null}, ${time}, ${time}
    where not exists (select from ssh_keys where fingerprint_sha256 = ${key.fingerprintSha256})
    returning *`.execute(tx);
  const [row] = rows;
  if (!row) throw invalid({ fingerprint_sha256: ['has already been taken'] });
  return row;
}

/** Enables the key for the project, where it stays as it is if it is enabled already; returns it. */
async function giveKey(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  key: DeployKeyRow,
  canPush: boolean,
): Promise<ProjectKeyRow> {
  const given = await tx
    .insertInto('deploy_keys_projects')
    .values({ deploy_key_id: key.id, project_id: project.id, can_push: canPush, created_at: now() })
    .onConflict((conflict) => conflict.doNothing())
    .returning('project_id')
    .executeTakeFirst();
  if (!given) return findProjectKey(tx, project.id, key.id);
  await audit(tx, actor, projectEntity(project), 'deploy_key_added', key);
  return { ...key, can_push: canPush };
}

/** Adds a key to a project: a new one, or one that the actor may enable. 400 for another existing key. */
export async function addProjectKey(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: NewDeployKey & { can_push?: boolean | undefined },
): Promise<ProjectKeyRow> {
  const key = readKey(input);
  return inTransaction(db, async (tx) => {
    const known = await lockEnabledKey(tx, actor, { fingerprint: key.fingerprintSha256 });
    const row = known ?? (await insertKey(tx, actor, key, input, false));
    return giveKey(tx, actor, project, row, input.can_push ?? false);
  });
}

/** Adds a key that every project may enable. */
export const addPublicKey = (db: Db, actor: Actor, input: NewDeployKey): Promise<DeployKeyRow> => {
  const key = readKey(input);
  return inTransaction(db, async (tx) => {
    const row = await insertKey(tx, actor, key, input, true);
    const instance: AuditedEntity = { type: 'InstanceScope', id: 1, path: 'instance' };
    await audit(tx, actor, instance, 'deploy_key_added', row);
    return row;
  });
};

/** Enables a key that is public or in a project that the actor maintains; 404 for others. */
export const enableKey = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  id: number,
): Promise<ProjectKeyRow> =>
  inTransaction(db, async (tx) => {
    const row = found(await lockEnabledKey(tx, actor, { id }), 'Deploy Key');
    return giveKey(tx, actor, project, row, false);
  });

/** Changes the title, which all projects with the key share, and whether this project lets it push. */
export const changeKey = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: ChangeDeployKey,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { key_id, title, can_push } = input;
    const row = found(await lockProjectKey(tx, project.id, key_id), 'Deploy Key');
    if (title !== undefined && title !== row.title) {
      if (row.public && !actor.admin) throw forbidden();
      if (title.trim() === '') throw invalid({ title: ["can't be blank"] });
      await ahead(tx)
        .updateTable('deploy_keys')
        .set({ title, updated_at: now() })
        .where('id', '=', key_id)
        .execute();
    }
    if (can_push !== undefined && can_push !== row.can_push) {
      await ahead(tx)
        .updateTable('deploy_keys_projects')
        .set({ can_push })
        .where('deploy_key_id', '=', key_id)
        .where('project_id', '=', project.id)
        .execute();
      if (!can_push) await forgetGrants(tx, project.id, key_id);
    }
    await audit(tx, actor, projectEntity(project), 'deploy_key_updated', {
      ...row,
      title: title ?? row.title,
    });
  });

/** Removes a key that may not push from rules of protected branches. */
const forgetGrants = (tx: Db, projectId: number, keyId: number) =>
  ahead(tx)
    .deleteFrom('protected_ref_access')
    .where('deploy_key_id', '=', keyId)
    .where('protected_branch_id', 'in', (query) =>
      query.selectFrom('protected_branches').select('id').where('project_id', '=', projectId),
    )
    .execute();

/** Removes the key from the project; 404 where it has none. */
export const removeKey = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = found(await lockProjectKey(tx, project.id, id), 'Deploy Key');
    unmodified(row.updated_at);
    await forgetGrants(tx, project.id, id);
    await ahead(tx)
      .deleteFrom('deploy_keys_projects')
      .where('deploy_key_id', '=', id)
      .where('project_id', '=', project.id)
      .execute();
    await ahead(tx)
      .deleteFrom('deploy_keys')
      .where('id', '=', id)
      .where('public', '=', false)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('deploy_keys_projects').select('project_id').where('deploy_key_id', '=', id))),
      )
      .execute();
    await audit(tx, actor, projectEntity(project), 'deploy_key_removed', row);
  });

/** The project's key; 404 without. */
export const findProjectKey = async (db: Db, projectId: number, id: number) =>
  found(await selectProjectKey(db, projectId, id), 'Deploy Key');

/** Deletes the private keys that only projects which go have. */
export const eraseDeployKeys: Eraser = async (tx, { projectIds }) => {
  const ids = sql`${[...projectIds]}::bigint[]`;
  await sql`
    delete from deploy_keys k where not public
      and exists (select from deploy_keys_projects d where d.deploy_key_id = k.id and d.project_id = any(${ids}))
      and not exists (select from deploy_keys_projects d where d.deploy_key_id = k.id and d.project_id <> all(${ids}))`.execute(
    ahead(tx),
  );
};

/** Makes the keys that a deleted user added the ghost's. */
export async function reassignDeployKeys(tx: Db, userId: number, ghostId: number): Promise<void> {
  await ahead(tx)
    .updateTable('deploy_keys')
    .set({ user_id: ghostId })
    .where('user_id', '=', userId)
    .execute();
}
