/**
 * Error tracking: receives error reports of applications, groups them into errors, and shows these to
 * members.
 */
import type { Capability } from '../../core/capability.ts';
import type { Services } from '../../core/services.ts';
import { clientKeyEndpoints } from './client-key-routes.ts';
import { createCollector } from './collector.ts';
import { createDigest } from './digest.ts';
import { errorEndpoints } from './error-routes.ts';
import { createItemCounts } from './item-counts.ts';
import { sweepErrors } from './retention.ts';
import { trackingSettingsEndpoints } from './settings-routes.ts';
import { createSpool } from './spool.ts';

const SWEEP = 'error_tracking.sweep';

export function errorTrackingCapability(services: Services): Capability {
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
