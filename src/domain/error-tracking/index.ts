/**
 * Error tracking: receives error reports of applications, groups them into errors, and shows these to
 * members.
 */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { createCollector } from './collector/collector.ts';
import { createItemCounts } from './collector/item-counts.ts';
import { createSpool } from './collector/spool.ts';
import { createDigest } from './digest/digest.ts';
import { sweepErrors } from './errors/retention-actions.ts';
import { errorEndpoints } from './errors/routes.ts';
import { clientKeyEndpoints } from './settings/client-key-routes.ts';
import { trackingSettingsEndpoints } from './settings/routes.ts';

export { errorEndpoint, errorsEndpoint } from './errors/routes.ts';
export type { ErrorDetailRecord, ErrorRecord, WholeEventRecord } from './errors/schema.ts';

const SWEEP = 'error_tracking.sweep';

export function errorTrackingCapability(
  services: Needs<'database' | 'settings' | 'limiter' | 'disk' | 'log' | 'secretKey'>,
): Capability {
  const spool = createSpool(services);
  const items = createItemCounts();
  const collector = createCollector(services, spool, items);
  const digest = createDigest(services, spool, items);
  return {
    name: 'error-tracking',
    endpoints: [...trackingSettingsEndpoints, ...clientKeyEndpoints, ...errorEndpoints],
    routes: collector.routes,
    gauges: [...spool.gauges, items.gauge, ...digest.gauges],
    background: {
      start: digest.background.start,
      stop: async () => {
        await Promise.all([digest.background.stop(), collector.stop()]);
      },
    },
    tasks: { [SWEEP]: () => sweepErrors(services) },
    schedules: [{ task: SWEEP, pattern: '37 * * * *' }],
    // Rows go with their project by foreign key; those of an error go with the error.
    tables: [
      'error_tracking_settings',
      'error_tracking_client_keys',
      'error_spool',
      'errors',
      'error_events',
      'error_counts',
      'error_users',
      'error_tags',
    ],
  };
}
