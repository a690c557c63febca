/** Sites that administrators have registered. Nothing is replicated to them. */
import type { Capability } from '../../kernel/capability.ts';
import { siteEndpoints } from './routes.ts';

export const geoCapability = (): Capability => ({
  name: 'geo',
  endpoints: siteEndpoints,
  tables: ['geo_sites'],
  unique: {
    geo_sites_name: { property: 'name' },
    geo_sites_url: { property: 'url' },
    geo_sites_primary: { property: 'primary' },
  },
});
