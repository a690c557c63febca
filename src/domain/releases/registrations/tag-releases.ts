/** Releases in the records of tags. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { selectTexts } from '../queries.ts';
import { releaseName } from '../rules.ts';

/** Of those tags that have some, where the caller reads them. */
export async function releasesOfTags(db: Db, project: AuthorizedProject, tags: readonly string[]) {
  if (!project.may('read_releases')) return new Map();
  const rows = await selectTexts(db, project, tags);
  return new Map(rows.map((row) => [row.tag, { name: releaseName(row), description: row.description }]));
}
