/** Personal access tokens of a group's service accounts, which its owners make, rotate and revoke. */
import Type from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { type AuthorizedUser, findServiceAccount } from '../../../kernel/access/users.ts';
import { type Actor, isTokenBot } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { forbidden } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createUserToken, revokeToken, rotateToken } from '../actions.ts';
import { presentToken } from '../present.ts';
import { listTokens, selectToken, type TokenRow } from '../queries.ts';
import { newTokenLife, personalScopes } from '../rules.ts';
import {
  NewToken,
  PersonalAccessToken,
  PersonalAccessTokenWithToken,
  Rotation,
  tokenFilterFields,
} from '../schema.ts';

type OnAccount = {
  services: Needs<'database'>;
  actor: Actor;
  subject: AuthorizedGroup;
  input: { user_id: number };
};

const account = ({ services, actor, subject, input }: OnAccount): Promise<AuthorizedUser> =>
  findServiceAccount(services.database.sql, input.user_id, { actor, groupId: subject.id });

/**
 * 403 for the bot of a token: one that is lost is not to leave others behind, which live longer. And for an external user where the
 * account sees more than they do.
 */
function requireIssuing({ kind, external, admin }: Actor, { row }: AuthorizedUser): void {
  if (isTokenBot(kind) || (external && !admin && !row.external)) throw forbidden();
}

async function tokenOf(context: OnAccount & { input: { token_id: number } }): Promise<TokenRow> {
  const { id } = await account(context);
  const whose = { list: 'own', userId: id } as const;
  return found(await selectToken(context.services.database.db, whose, context.input.token_id));
}

const path = '/groups/:id/service_accounts/:user_id/personal_access_tokens';
const common = { access: onGroup('manage_service_accounts'), tier: 'premium' } as const;
const UserId = { user_id: Type.Integer() };
const TokenId = { ...UserId, token_id: Type.Integer() };

export const serviceAccountTokenEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Personal access tokens of a service account.',
    ...common,
    input: Type.Object({ ...UserId, ...tokenFilterFields }),
    item: PersonalAccessToken,
    page: 'offset',
    handle: async (context) => {
      const { id } = await account(context);
      const whose = { list: 'own', userId: id } as const;
      return mapPage(await listTokens(context.db, whose, context.input, context.page), presentToken);
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a personal access token of a service account; its value is shown this once.',
    ...common,
    input: Type.Object({ ...UserId, ...NewToken.properties }),
    reply: PersonalAccessTokenWithToken,
    handle: async (context) => {
      const { services, settings, actor, input } = context;
      const user = await account(context);
      requireIssuing(actor, user);
      const { row } = user;
      const terms = { available: personalScopes(row.admin), unasked: newTokenLife };
      const issued = await createUserToken(services, settings, actor, 'personal', row, input, terms);
      return { ...presentToken(issued.row), token: issued.token };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:token_id`,
    summary: 'Revokes a personal access token of a service account.',
    ...common,
    input: Type.Object(TokenId),
    reply: noContent,
    handle: async (context) => {
      const token = await tokenOf(context);
      context.unmodified(token.updated_at);
      await revokeToken(context.services, context.actor, token);
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:token_id/rotate`,
    summary: 'Replaces a personal access token of a service account by a new one with the same rights.',
    rotatesToken: true,
    ...common,
    input: Type.Object({ ...TokenId, ...Rotation.properties }),
    reply: PersonalAccessTokenWithToken,
    status: 200,
    handle: async (context) => {
      const { services, settings, actor, input } = context;
      requireIssuing(actor, await account(context));
      const issued = await rotateToken(services, settings, actor, await tokenOf(context), input.expires_at);
      return { ...presentToken(issued.row), token: issued.token };
    },
  }),
];
