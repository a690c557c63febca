/** Tokens that somebody has found: an owner of a top-level group ends them by their value (facts: Groups). */
import Type from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { badRequest, Failure } from '../../../platform/failure.ts';
import { revokeToken } from '../actions.ts';
import { presentDeployToken, presentResourceToken, presentToken } from '../present.ts';
import { selectToken } from '../queries.ts';
import { DeployToken, PersonalAccessToken, ResourceAccessToken } from '../schema.ts';
import { endDeployToken, selectReachingToken } from './queries.ts';

const MAX_TOKEN_LENGTH = 1_000;

const RevokedToken = Type.Union([ResourceAccessToken, PersonalAccessToken, DeployToken]);

const revokeDeployToken = (db: Db, actor: Actor, { id: groupId, row }: AuthorizedGroup, id: number) =>
  inTransaction(db, async (tx) => {
    const token = found(await endDeployToken(tx, id));
    await announce(tx, {
      author: actor,
      audit: {
        entity: { type: 'Group', id: groupId, path: row.full_path },
        event: 'deploy_token_revoked',
        details: { target_id: token.id, target_type: 'DeployToken', target_details: token.name },
      },
    });
    return token;
  });

export const leakedTokenEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/groups/:id/tokens/revoke',
    summary:
      'Ends a token that reaches anything in a top-level group: of a member, of a project or group, or a deploy token.',
    access: onGroup('revoke_leaked_tokens'),
    also: [422],
    input: Type.Object({
      token: Type.String({ minLength: 1, maxLength: MAX_TOKEN_LENGTH, description: 'Its value.' }),
    }),
    reply: RevokedToken,
    status: 200,
    handle: async ({ db, services, actor, subject, input }) => {
      if (subject.row.parent_id !== null) throw badRequest('Tokens are revoked by top-level groups');
      const known = await selectReachingToken(db, subject.id, input.token);
      if (!known)
        throw new Failure(
          'unprocessable',
          'No token of the group, its members or its projects has this value',
        );
      if (known.is_deploy) return presentDeployToken(await revokeDeployToken(db, actor, subject, known.id));
      const whose = { list: 'own', userId: undefined } as const;
      const token = found(await selectToken(db, whose, known.id));
      await revokeToken(services, actor, token);
      // A bot without a token goes, and its token is found no more.
      const ended = { ...token, revoked_at: token.revoked_at ?? now() };
      return token.kind === 'personal' ? presentToken(ended) : presentResourceToken(ended);
    },
  }),
];
