/** The administrator's rules for outgoing calls. */
import type { OutboundReply, OutboundRequest } from '../../platform/outbound/outbound.ts';
import type { Needs } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';

/** A call to another service, by those rules. */
export type Fetch = (
  url: string,
  request: Omit<OutboundRequest, 'allowLocal' | 'allowlist'>,
) => Promise<OutboundReply>;

export const outboundFetch =
  ({ outbound }: Needs<'outbound'>, settings: ApplicationSettings): Fetch =>
  (url, request) =>
    outbound(url, {
      ...request,
      allowLocal: settings.allow_local_requests_from_web_hooks_and_services,
      allowlist: settings.outbound_local_requests_allowlist,
    });
