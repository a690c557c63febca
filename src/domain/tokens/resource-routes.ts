/** Endpoints of project and group access tokens. */
import Type from 'typebox';
import type { AuthorizedGroup, AuthorizedProject } from '../../kernel/access/find.ts';
import { isTokenBot } from '../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import { badRequest, forbidden } from '../../platform/failure.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { revokeToken, rotateToken } from './actions.ts';
import { createResourceToken } from './bot-actions.ts';
import { presentResourceToken } from './present.ts';
import { presentedToken, wrongTokenForRotation } from './presented-token.ts';
import { listTokens, selectToken } from './queries.ts';
import { groups, projects, type Resource } from './resource.ts';
import {
  NewResourceToken,
  ResourceAccessToken,
  ResourceAccessTokenWithToken,
  Rotation,
  tokenFilterFields,
} from './schema.ts';

const tokenId = { token_id: Type.Integer() };

const resourceEndpointsOf = <Subject extends AuthorizedProject | AuthorizedGroup>(
  services: Needs<'config'>,
  { of, manageTokens: access, rotateOwnToken, place, whose }: Resource<Subject>,
): Endpoint[] => {
  const path = `/${of}s/:id/access_tokens`;
  // The hosted offering sells them (spec: Authentication, 6).
  const tier = services.config.offering === 'hosted' ? { tier: 'premium' as const } : {};
  return [
    listing({
      method: 'GET',
      path,
      summary: `Access tokens of a ${of}.`,
      access,
      ...tier,
      input: Type.Object(tokenFilterFields),
      item: ResourceAccessToken,
      page: 'offset',
      handle: async ({ db, subject, input, page }) =>
        mapPage(await listTokens(db, whose(subject), input, page), presentResourceToken),
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Makes an access token of a ${of}, and the bot that it acts as; its value is shown this once.`,
      access,
      ...tier,
      input: NewResourceToken,
      reply: ResourceAccessTokenWithToken,
      handle: async ({ services, settings, actor, subject, input }) => {
        const issued = await createResourceToken(
          services,
          settings,
          actor,
          place(subject),
          subject.role,
          input,
        );
        return { ...presentResourceToken(issued.row), token: issued.token };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:token_id`,
      summary: `One access token of a ${of}.`,
      access,
      ...tier,
      input: Type.Object(tokenId),
      reply: ResourceAccessToken,
      handle: async ({ db, subject, input }) =>
        presentResourceToken(found(await selectToken(db, whose(subject), input.token_id))),
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:token_id`,
      summary: `Revokes an access token of a ${of}, and ends its bot.`,
      access,
      ...tier,
      input: Type.Object(tokenId),
      reply: noContent,
      handle: async ({ db, services, actor, subject, input, unmodified }) => {
        const token = found(await selectToken(db, whose(subject), input.token_id));
        unmodified(token.updated_at);
        await revokeToken(services, actor, token);
        return new Reply(204);
      },
    }),
    endpoint({
      method: 'POST',
      path: `${path}/:token_id/rotate`,
      summary: `Replaces an access token of a ${of} by a new one with the same rights.`,
      rotatesToken: true,
      access,
      ...tier,
      input: Type.Object({ ...tokenId, ...Rotation.properties }),
      reply: ResourceAccessTokenWithToken,
      status: 200,
      handle: async ({ db, services, settings, actor, subject, input }) => {
        const token = found(await selectToken(db, whose(subject), input.token_id));
        // A rotation shows the new value: a bot would get another's, a maintainer an owner's.
        if (isTokenBot(actor.kind) && token.user_id !== actor.id) throw forbidden();
        if ((token.access_level ?? 0) > subject.role) {
          throw badRequest('Not eligible to rotate token with access level higher than the user');
        }
        const issued = await rotateToken(services, settings, actor, token, input.expires_at);
        return { ...presentResourceToken(issued.row), token: issued.token };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${path}/self/rotate`,
      summary: `Replaces the ${of} access token that the request comes with.`,
      rotatesToken: true,
      access: rotateOwnToken,
      also: [405],
      scopes: ['api', 'self_rotate'],
      ...tier,
      input: Rotation,
      reply: ResourceAccessTokenWithToken,
      status: 200,
      handle: async ({ db, services, settings, actor, subject, input }) => {
        const token = await presentedToken(db, actor, whose(subject));
        if (!token) throw wrongTokenForRotation();
        const issued = await rotateToken(services, settings, actor, token, input.expires_at);
        return { ...presentResourceToken(issued.row), token: issued.token };
      },
    }),
  ];
};

export const resourceEndpoints = (services: Needs<'config'>): Endpoint[] => [
  ...resourceEndpointsOf(services, projects),
  ...resourceEndpointsOf(services, groups),
];
