/** Whether a user can give scopes to an application at all, as a pure function. */
import { adminScopes } from '../../../kernel/actor.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';

/** Powers of an administrator's account that are too much for applications (setting disable_admin_oauth_scopes). */
const dangerous: readonly string[] = ['api', 'sudo', 'admin_mode'];

/** The reason why the user cannot give these scopes, for the page; undefined when they can (facts §8). */
export function scopeRefusal(
  scopes: readonly string[],
  who: { admin: boolean; trusted: boolean },
  settings: Pick<ApplicationSettings, 'disable_admin_oauth_scopes'>,
): string | undefined {
  const beyond = scopes.filter((scope) => adminScopes.includes(scope));
  if (!who.admin && beyond.length > 0)
    return `It asks for what only administrators can give: ${beyond.join(', ')}.`;
  const risky = scopes.filter((scope) => dangerous.includes(scope));
  if (who.admin && !who.trusted && settings.disable_admin_oauth_scopes && risky.length > 0)
    return `On this site administrators give to trusted applications alone: ${risky.join(', ')}.`;
  return undefined;
}
