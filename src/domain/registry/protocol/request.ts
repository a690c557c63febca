/** A request of the protocol, and what its token grants. */
import type { Needs } from '../../../kernel/services.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { PROXY_SERVICE, SERVICE } from '../access/rules.ts';
import { type ImagePlace, placeIn, type RegistryToken } from '../access/tokens.ts';
import { selectRepository } from '../images/queries.ts';
import { type Action, proxiedImage } from '../names/rules.ts';
import { guardOf, type Rules, selectRules } from '../protection/queries.ts';
import { requireRepositoryDelete, requireRepositoryPush } from '../protection/refusals.ts';
import type { TagGuard } from '../protection/rules.ts';
import { RegistryError } from '../refusals/errors.ts';

export type RegistryServices = Needs<'database' | 'blobs'>;

export type RegistryRequest = {
  services: RegistryServices;
  request: HttpRequest;
  query: URLSearchParams;
  token: RegistryToken;
};

/** 401 that tells the program where it gets a token, and for what. */
export function challenge(
  { origin }: Pick<HttpRequest, 'origin'>,
  reason?: 'invalid_token' | 'insufficient_scope',
  scope?: string,
): RegistryError {
  const path = scope?.split(':')[1] ?? '';
  const parts = [
    `realm="${origin}/jwt/auth"`,
    `service="${proxiedImage(path) ? PROXY_SERVICE : SERVICE}"`,
    ...(scope === undefined ? [] : [`scope="${scope}"`]),
    ...(reason === undefined ? [] : [`error="${reason}"`]),
  ];
  return new RegistryError('UNAUTHORIZED', 'authentication required', {
    headers: { 'www-authenticate': `Bearer ${parts.join(',')}` },
  });
}

/** What a program asks for that wants to do this. */
export const scopeOf = (path: string, action: Action): string =>
  `repository:${path}:${action === 'push' ? 'pull,push' : action}`;

/** The image's place; 401 unless the token grants the action there. */
export function requirePlace({ request, token }: RegistryRequest, path: string, action: Action): ImagePlace {
  const place = placeIn(token, path, action);
  if (!place) throw challenge(request, 'insufficient_scope', scopeOf(path, action));
  return place;
}

/** Where the program may push: the image's place, and what keeps tags of it. */
export async function requirePush(
  context: RegistryRequest,
  path: string,
): Promise<{ place: ImagePlace; guard: TagGuard | undefined }> {
  const place = requirePlace(context, path, 'push');
  const rules = await selectRules(context.services.database.db, { id: place.projectId });
  requireRepositoryPush(rules, place);
  return { place, guard: await guardOf(rules, place.level) };
}

/** Where the program may delete. */
export async function requireDelete(
  context: RegistryRequest,
  path: string,
): Promise<{ repositoryId: number; rules: Rules; guard: TagGuard | undefined }> {
  const place = requirePlace(context, path, 'delete');
  const repositoryId = await requireRepository(context, path, 'delete');
  const rules = await selectRules(context.services.database.db, { id: place.projectId });
  requireRepositoryDelete(rules, place);
  return { repositoryId, rules, guard: await guardOf(rules, place.level) };
}

/** The repository of an image, which is there; NAME_UNKNOWN. */
export async function requireRepository(
  context: RegistryRequest,
  path: string,
  action: Action,
): Promise<number> {
  const place = requirePlace(context, path, action);
  const id = await selectRepository(context.services.database.db, place);
  if (id === undefined) throw new RegistryError('NAME_UNKNOWN', 'there is no such repository');
  return id;
}
