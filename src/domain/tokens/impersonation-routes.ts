/** Endpoints of impersonation tokens: made by administrators, used as the user (spec: Authentication, 5). */
import Type from 'typebox';
import { onUserAsAdmin } from '../../kernel/access/access.ts';
import type { AuthorizedUser } from '../../kernel/access/users.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../kernel/api/endpoint.ts';
import { notFound } from '../../platform/failure.ts';
import { stringEnum } from '../../platform/http/parameters/schema.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { createUserToken, revokeToken } from './actions.ts';
import { presentImpersonationToken } from './present.ts';
import { listTokens, selectToken, type Whose } from './queries.ts';
import { newTokenLife, personalScopes } from './rules.ts';
import {
  ImpersonationToken,
  ImpersonationTokenWithToken,
  NewImpersonationToken,
  tokenFilterFields,
} from './schema.ts';

const path = '/users/:user_id/impersonation_tokens';
const access = onUserAsAdmin('user_id');
const scopes = ['api', 'read_api', 'read_user'];
const named = Type.Object({ impersonation_token_id: Type.Integer() });
const whose = (user: AuthorizedUser): Whose => ({ list: 'impersonation', userId: user.id });

export const impersonationEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Impersonation tokens of a user.',
    access,
    scopes,
    input: Type.Object({
      ...tokenFilterFields,
      state: Type.Optional(stringEnum(['all', 'active', 'inactive'])),
    }),
    item: ImpersonationToken,
    page: 'offset',
    handle: async ({ db, subject, input, page }) =>
      mapPage(await listTokens(db, whose(subject), input, page), presentImpersonationToken),
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes an impersonation token of a user; its value is shown this once.',
    access,
    input: NewImpersonationToken,
    reply: ImpersonationTokenWithToken,
    handle: async ({ services, settings, actor, subject, input }) => {
      if (!settings.impersonation_enabled) throw notFound();
      const terms = { available: personalScopes(subject.row.admin), unasked: newTokenLife };
      const issued = await createUserToken(
        services,
        settings,
        actor,
        'impersonation',
        subject.row,
        input,
        terms,
      );
      return { ...presentImpersonationToken(issued.row), token: issued.token };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:impersonation_token_id`,
    summary: 'One impersonation token of a user.',
    access,
    scopes,
    input: named,
    reply: ImpersonationToken,
    handle: async ({ db, subject, input }) =>
      presentImpersonationToken(found(await selectToken(db, whose(subject), input.impersonation_token_id))),
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:impersonation_token_id`,
    summary: 'Revokes an impersonation token.',
    access,
    input: named,
    reply: noContent,
    handle: async ({ db, services, actor, subject, input, unmodified }) => {
      const token = found(await selectToken(db, whose(subject), input.impersonation_token_id));
      unmodified(token.updated_at);
      await revokeToken(services, actor, token);
      return new Reply(204);
    },
  }),
];
