/** A feature flag of the instance that is switched on. */

import type { Samples } from '../../../test/support/samples.ts';
import { featureDefinitions } from '../../kernel/settings/features.ts';

const [flag = ''] = Object.keys(featureDefinitions);

export const samples: Samples = {
  rows: () => `insert into feature_gates (name, value, updated_at) values ('${flag}', 'true', now())`,
  objects: { 'features/:name': { value: flag }, 'license/:id': { value: 1 } },
  requests: () => ({ 'POST /features/:name': { with: { value: 'true' } } }),
};
