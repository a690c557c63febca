/** Which addresses hooks may have: what is known of them before they are resolved. The delivery judges them again. */
import { isIP } from 'node:net';
import { isInstance, type ParentOrInstance } from '../../../kernel/access/resource-parents.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { mayReach, type OutboundRules } from '../../../platform/outbound/addresses.ts';
import { interpolate, unprocessable, type Values } from './rules.ts';

/** The administrator's rules; hooks of the instance, which administrators make, have a setting of their own. */
export const rulesOf = (settings: ApplicationSettings, ofInstance: boolean): OutboundRules => ({
  allowLocal: ofInstance
    ? settings.allow_local_requests_from_system_hooks
    : settings.allow_local_requests_from_web_hooks_and_services,
  allowlist: settings.outbound_local_requests_allowlist,
});

/** Whether the rules allow an address, as far as it says itself where it leads. */
export function isReachable(url: string, rules: OutboundRules): boolean {
  const { hostname: written, port, protocol } = new URL(url);
  const hostname = written.replace(/^\[|\]$/g, '');
  const address = hostname === 'localhost' ? '127.0.0.1' : hostname;
  const target = { hostname, address, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  return isIP(address) === 0 || mayReach(target, rules);
}

/** 422 for an address of this network that is not allowed. */
export function requireReachable(
  url: string,
  variables: Values,
  { subject, settings }: { subject: ParentOrInstance; settings: ApplicationSettings },
): void {
  if (!isReachable(interpolate(url, variables), rulesOf(settings, isInstance(subject))))
    throw unprocessable('Invalid url given');
}
