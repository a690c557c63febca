/** A release as hooks tell of it, which the fact of its deletion keeps. Pure. */
import { hookTime } from '../hooks/index.ts';
import type { ReleaseRow } from './release-row.ts';
import { releaseName } from './rules.ts';

type AnnouncedLink = { id: number; link_type: string; name: string; url: string };

export const announcedRelease = (row: ReleaseRow, links: readonly AnnouncedLink[]) => ({
  id: row.id,
  tag: row.tag,
  sha: row.sha,
  name: releaseName(row),
  description: row.description,
  created_at: hookTime(row.created_at),
  released_at: hookTime(row.released_at),
  links: links.map(({ id, link_type, name, url }) => ({ id, link_type, name, url })),
});
export type AnnouncedRelease = ReturnType<typeof announcedRelease>;
