/** Pages elsewhere that belong to a project: its wiki and its issues, for whoever sees the project. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { integrations } from '../descriptions/descriptions.ts';
import { type Properties, textOf } from '../kinds/description.ts';
import { selectActiveOf } from '../management/queries.ts';

const withPages = [...integrations.values()].flatMap(({ slug, page }) => (page ? [slug] : []));

/** An address has no scheme but those of the Web: none other is kept. */
type OutsidePage = { label: string; title: string; href: string };

export async function readOutsidePages(db: Db, project: AuthorizedProject): Promise<OutsidePage[]> {
  const rows = await selectActiveOf(db, project, withPages);
  return rows.flatMap(({ slug, properties }) => {
    const { page, title = '' } = integrations.get(slug) ?? {};
    return page ? [{ label: page.label, title, href: textOf(properties as Properties, page.field) }] : [];
  });
}
