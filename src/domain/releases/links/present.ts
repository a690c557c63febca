/** Links of releases as records. */
import type { LinkRow } from './queries.ts';
import { directAssetUrl } from './rules.ts';
import type { ReleaseLink } from './schema.ts';

export const presentLink = (releaseUrl: string, row: LinkRow): ReleaseLink => ({
  id: row.id,
  name: row.name,
  url: row.url,
  direct_asset_url: directAssetUrl(releaseUrl, row),
  link_type: row.link_type,
});
