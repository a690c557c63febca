/** Where the administrator lets outgoing calls go. */
import type { OutboundRules } from '../platform/outbound.ts';
import type { ApplicationSettings } from './settings/definitions.ts';

/** The settings as the guarded client takes them. */
export const outboundRules = (settings: ApplicationSettings): OutboundRules => ({
  allowLocal: settings.allow_local_requests_from_web_hooks_and_services,
  allowlist: settings.outbound_local_requests_allowlist,
});
