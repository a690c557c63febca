/** Endpoints of personal access tokens: one's own, and everybody's for administrators. */
import Type from 'typebox';
import { onUserAsAdmin, signedIn } from '../../kernel/access/access.ts';
import { type Actor, scopeNames } from '../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../kernel/api/endpoint.ts';
import type { Db } from '../../platform/db/database.ts';
import { badRequest, notFound, unauthenticated } from '../../platform/failure.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { createUserToken, revokeToken, rotateToken } from './actions.ts';
import { AssociationsInput, listAssociations, TokenAssociations } from './associations.ts';
import { presentToken } from './present.ts';
import { presentedToken, wrongTokenForRotation } from './presented-token.ts';
import { listTokens, selectToken, type TokenRow, type Whose } from './queries.ts';
import { newTokenLife, ownTokenLife, personalScopes } from './rules.ts';
import {
  NewToken,
  OwnToken,
  PersonalAccessToken,
  PersonalAccessTokenWithToken,
  Rotation,
  tokenFilterFields,
} from './schema.ts';

const id = { id: Type.Integer() };

/** The caller's own, or everybody's for an administrator. */
const reach = (actor: Actor): Whose => ({ list: 'own', userId: actor.admin ? undefined : actor.id });

/** The token within reach; only administrators learn whether another's exists. */
async function findToken(db: Db, actor: Actor, tokenId: number): Promise<TokenRow> {
  const token = await selectToken(db, reach(actor), tokenId);
  if (!token) throw actor.admin ? notFound() : unauthenticated();
  return token;
}

/** A token may read itself, and revoke itself, whatever its scopes. */
const anyScope = scopeNames;

const readEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/personal_access_tokens',
    summary: "The caller's personal access tokens; an administrator sees everybody's.",
    access: signedIn,
    input: Type.Object({ ...tokenFilterFields, user_id: Type.Optional(Type.Integer()) }),
    item: PersonalAccessToken,
    page: 'offset',
    handle: async ({ db, actor, input, page }) => {
      const { user_id } = input;
      if (user_id !== undefined && user_id !== actor.id && !actor.admin) throw unauthenticated();
      const whose: Whose = user_id === undefined ? reach(actor) : { list: 'own', userId: user_id };
      return mapPage(await listTokens(db, whose, input, page), presentToken);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/personal_access_tokens/self',
    summary: 'The token that the request comes with.',
    access: signedIn,
    scopes: anyScope,
    reply: PersonalAccessToken,
    handle: async ({ db, actor }) => presentToken(found(await presentedToken(db, actor))),
  }),
  endpoint({
    method: 'GET',
    path: '/personal_access_tokens/self/associations',
    summary: 'The groups and projects that the token of the request reaches as a member: a page of each.',
    access: signedIn,
    input: AssociationsInput,
    reply: TokenAssociations,
    handle: async ({ db, services, settings, actor, input }) => {
      found(await presentedToken(db, actor));
      return listAssociations(db, actor, input, { baseUrl: services.baseUrl(), settings });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/personal_access_tokens/:id',
    summary: 'One personal access token.',
    access: signedIn,
    input: Type.Object(id),
    reply: PersonalAccessToken,
    handle: async ({ db, actor, input }) => presentToken(await findToken(db, actor, input.id)),
  }),
];

const createEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/user/personal_access_tokens',
    summary: "Makes a personal access token of the caller's; its value is shown this once.",
    access: signedIn,
    input: OwnToken,
    reply: PersonalAccessTokenWithToken,
    handle: async ({ services, settings, actor, input }) => {
      const terms = { available: personalScopes(actor.admin), unasked: ownTokenLife };
      const issued = await createUserToken(services, settings, actor, 'personal', actor, input, terms);
      return { ...presentToken(issued.row), token: issued.token };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/:user_id/personal_access_tokens',
    summary: 'Makes a personal access token of a user; its value is shown this once.',
    access: onUserAsAdmin('user_id'),
    input: NewToken,
    reply: PersonalAccessTokenWithToken,
    handle: async ({ services, settings, actor, subject, input }) => {
      const terms = { available: personalScopes(subject.row.admin), unasked: newTokenLife };
      const issued = await createUserToken(services, settings, actor, 'personal', subject.row, input, terms);
      return { ...presentToken(issued.row), token: issued.token };
    },
  }),
];

const changeEndpoints: Endpoint[] = [
  endpoint({
    method: 'DELETE',
    path: '/personal_access_tokens/self',
    summary: 'Revokes the token that the request comes with.',
    access: signedIn,
    scopes: anyScope,
    reply: noContent,
    handle: async ({ db, services, actor, unmodified }) => {
      const token = await presentedToken(db, actor);
      if (!token) throw badRequest('the request comes with no access token that could be revoked here');
      unmodified(token.updated_at);
      await revokeToken(services, actor, token);
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/personal_access_tokens/:id',
    summary: 'Revokes a personal access token.',
    access: signedIn,
    input: Type.Object(id),
    reply: noContent,
    handle: async ({ db, services, actor, input, unmodified }) => {
      const token = await findToken(db, actor, input.id);
      unmodified(token.updated_at);
      await revokeToken(services, actor, token);
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/personal_access_tokens/self/rotate',
    summary: 'Replaces the token that the request comes with by a new one with the same rights.',
    rotatesToken: true,
    access: signedIn,
    also: [405],
    scopes: ['api', 'self_rotate'],
    input: Rotation,
    reply: PersonalAccessTokenWithToken,
    status: 200,
    handle: async ({ db, services, settings, actor, input }) => {
      const token = await presentedToken(db, actor);
      if (!token) throw wrongTokenForRotation();
      const issued = await rotateToken(services, settings, actor, token, input.expires_at);
      return { ...presentToken(issued.row), token: issued.token };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/personal_access_tokens/:id/rotate',
    summary: 'Replaces a personal access token by a new one with the same rights.',
    rotatesToken: true,
    access: signedIn,
    input: Type.Object({ ...id, ...Rotation.properties }),
    reply: PersonalAccessTokenWithToken,
    status: 200,
    handle: async ({ db, services, settings, actor, input }) => {
      const token = await findToken(db, actor, input.id);
      const issued = await rotateToken(services, settings, actor, token, input.expires_at);
      return { ...presentToken(issued.row), token: issued.token };
    },
  }),
];

export const personalEndpoints: Endpoint[] = [...readEndpoints, ...createEndpoints, ...changeEndpoints];
