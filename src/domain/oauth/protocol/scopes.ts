/** Scopes of applications: their list, how they are requested, and the meaning of each in words. Pure. */
import { adminScopes, type Scope, scopeNames } from '../../../kernel/actor.ts';

/**
 * Scopes that an application may be registered with: all but that of tokens that rotate themselves (facts
 * §8).
 */
export const applicationScopes: readonly Scope[] = scopeNames.filter((scope) => scope !== 'self_rotate');

/** Scopes of the password grant without an application: a password alone never gives the powers of an administrator. */
export const clientlessScopes: readonly Scope[] = applicationScopes.filter(
  (scope) => !adminScopes.includes(scope),
);

/**
 * The scope of an authorization without a scope parameter, where the application has it (spec: OAuth 2.0
 * provider, 6).
 */
export const DEFAULT_SCOPE: Scope = 'api';

/** The permissions of each scope, as the consent page words them. */
export const scopeMeanings: Record<Scope, string> = {
  api: 'Do everything that you can do through the API: read and change projects, groups, issues and settings.',
  read_api: 'Read everything that you can read through the API.',
  read_user: 'Read your profile, with your mail addresses.',
  create_runner: 'Create runners.',
  manage_runner: 'Manage runners.',
  k8s_proxy: 'Call Kubernetes through agents.',
  self_rotate: 'Replace this token by a new one.',
  read_repository: 'Read repositories that you can read, over Git.',
  write_repository: 'Read and push to repositories that you can push to, over Git.',
  read_registry: 'Read container images that you can read.',
  write_registry: 'Push container images.',
  read_virtual_registry: 'Read container images through the dependency proxy.',
  write_virtual_registry: 'Read, write and delete container images through the dependency proxy.',
  read_observability: 'Read observability data.',
  write_observability: 'Write observability data.',
  ai_features: 'Call AI features of the API.',
  ai_workflows: 'Call AI workflows of the API.',
  mcp: 'Call the model context protocol server.',
  sudo: 'Act as any user. Only administrators can give this.',
  admin_mode: 'Do what administrators do. Only administrators can give this.',
  read_service_ping: 'Read the usage statistics of this site. Only administrators can give this.',
  openid: 'Know who you are.',
  profile: 'Read your name, your picture and the address of your profile.',
  email: 'Read your primary mail address.',
};

/** The names in a scope parameter, each once, in their order (RFC 6749, section 3.3). */
export const splitScopes = (text: string): string[] => [...new Set(text.split(/\s+/).filter(Boolean))];

/**
 * The requested scopes, where the application has all of them; undefined otherwise. Without a request the
 * default scope, or where the application does not have that, all that it has.
 */
export function decideScopes(
  requested: string | undefined,
  available: readonly string[],
): string[] | undefined {
  const names = splitScopes(requested ?? '');
  if (names.length > 0) return names.every((name) => available.includes(name)) ? names : undefined;
  return available.includes(DEFAULT_SCOPE) ? [DEFAULT_SCOPE] : [...available];
}
