/** Registry of what is published at tags: releases, of a page of tags at once. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { PublishedAt } from './present.ts';

/** By the names of tags, as far as the caller of the receipt reads it. */
type TagReleases = (db: Db, project: AuthorizedProject, tags: readonly string[]) => Promise<PublishedAt>;

export const tagReleases = new Registry<TagReleases>();

export async function publishedAt(
  { db, services }: { db: Db; services: Needs<'registered'> },
  project: AuthorizedProject,
  tags: readonly string[],
): Promise<PublishedAt> {
  if (tags.length === 0) return new Map();
  const all = await Promise.all(tagReleases.all(services).map((read) => read(db, project, tags)));
  return new Map(all.flatMap((each) => [...each]));
}
