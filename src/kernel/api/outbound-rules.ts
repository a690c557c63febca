/** The administrator's rules for outgoing calls. */
import type { OutboundRules } from '../../platform/outbound/outbound.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';

export const outboundRules = (settings: ApplicationSettings): OutboundRules => ({
  allowLocal: settings.allow_local_requests_from_web_hooks_and_services,
  allowlist: settings.outbound_local_requests_allowlist,
});
