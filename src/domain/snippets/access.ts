/** Authorizes a caller for the personal snippet that a path parameter names. */
import type { Access, AccessRequest } from '../../kernel/access/access.ts';
import type { Actor, Caller } from '../../kernel/actor.ts';
import { forbidden, notFound, unauthenticated } from '../../platform/failure.ts';
import { findPersonal, type SnippetRow } from './queries.ts';
import { decidePersonal, type SnippetAbility } from './snippet-policy.ts';

/** 404 for a snippet that does not exist or is invisible, 403 when refused. */
async function findSnippet(
  { sql, caller, params: { id = '' } }: AccessRequest,
  ability: SnippetAbility,
): Promise<SnippetRow> {
  const row = /^\d{1,15}$/.test(id) ? await findPersonal(sql, Number(id)) : undefined;
  const decision = row ? decidePersonal(ability, caller, row) : 'invisible';
  if (!row || decision === 'invisible') throw notFound('Snippet');
  if (decision !== 'allowed') throw forbidden();
  return row;
}

/** A personal snippet that the caller sees. */
export const onSnippet: Access<SnippetRow, Caller> = {
  sentence: { on: 'snippet', ability: 'read_snippet' },
  anonymous: true,
  find: async (request) => ({
    subject: await findSnippet(request, 'read_snippet'),
    actor: request.caller,
  }),
};

/** A personal snippet of the caller's own, or any for an administrator. */
export const onOwnSnippet: Access<SnippetRow, Actor> = {
  sentence: { on: 'snippet', ability: 'manage_snippet' },
  anonymous: false,
  find: async (request) => {
    const { caller } = request;
    if (!caller) throw unauthenticated();
    return { subject: await findSnippet(request, 'manage_snippet'), actor: caller };
  },
};
