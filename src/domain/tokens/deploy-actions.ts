/** Making and deleting deploy tokens: for Git and the registries; this API refuses them (spec: Authentication, 2). */
import { type MembershipSource, sourceColumns } from '../../kernel/access/membership-actions.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { invalid } from '../../platform/failure.ts';
import { digest, randomText } from '../../platform/secret.ts';
import { type DeployTokenRow, selectDeployToken } from './deploy-queries.ts';
import { deployScopes, gatherProblems, nameProblems, scopeProblems } from './rules.ts';
import type { NewDeployToken } from './schema.ts';

const PREFIX = 'gldt-';

const announceDeployToken = (
  tx: Db,
  actor: Actor,
  source: MembershipSource,
  event: string,
  token: DeployTokenRow,
) =>
  announce(tx, {
    author: actor,
    audit: {
      entity: source.entity,
      event,
      details: { target_id: token.id, target_type: 'DeployToken', target_details: token.name },
    },
  });

/** A deploy token of the project or group, and its value; 400 with all problems of the request. */
export async function createDeployToken(
  db: Db,
  actor: Actor,
  source: MembershipSource,
  request: NewDeployToken,
): Promise<{ row: DeployTokenRow; token: string }> {
  const scopes = [...new Set(request.scopes)];
  const expires_at = request.expires_at == null ? null : new Date(request.expires_at);
  const problems = gatherProblems({
    name: nameProblems(request.name),
    scopes: scopeProblems(scopes, deployScopes),
  });
  if (problems) throw invalid(problems);
  const token = `${PREFIX}${randomText(15)}`;
  return inTransaction(db, async (tx) => {
    const time = now();
    const { id } = await tx
      .insertInto('deploy_tokens')
      .values({
        ...sourceColumns(source),
        digest: digest(token),
        name: request.name,
        username: request.username ?? '',
        scopes,
        created_by_id: actor.id,
        expires_at,
        created_at: time,
        updated_at: time,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (!request.username) {
      const username = `deploy-token-${id}`;
      await ahead(tx).updateTable('deploy_tokens').set({ username }).where('id', '=', id).execute();
    }
    const row = found(await selectDeployToken(tx, source, id));
    await announceDeployToken(tx, actor, source, 'deploy_token_created', row);
    return { row, token };
  });
}

/** Deletes the token: it is invalid from now on. */
export const deleteDeployToken = (
  db: Db,
  actor: Actor,
  source: MembershipSource,
  token: DeployTokenRow,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const gone = await tx.deleteFrom('deploy_tokens').where('id', '=', token.id).executeTakeFirst();
    if (gone.numDeletedRows === 0n) return;
    await announceDeployToken(tx, actor, source, 'deploy_token_destroyed', token);
  });
