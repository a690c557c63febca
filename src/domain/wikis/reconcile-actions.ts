/**
 * Reconciles pages whose commit was made and not recorded, since the process died in between. The commits
 * show the change: a renamed page keeps its id, a deleted one loses it.
 */
import { sql } from 'kysely';
import type { Needs } from '../../kernel/services.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { textInTime } from '../../platform/git/program/long-runs.ts';
import { containerTables, type InterruptedWrite } from '../repositories/index.ts';
import { forgetPage, keepPage } from './page-actions.ts';
import { findPage, type Page } from './pages.ts';
import { selectWiki } from './queries.ts';
import { readWiki, type Wiki } from './wiki.ts';
import { pageAt } from './wiki-pages.ts';

/** The dead process made few of them, and others made more since then. */
const MAX_COMMITS = 200;

/** Present pages that commits since then moved or removed, by their old slugs; undefined for a removed one. */
async function movedSince({ folder }: GitFolder, since: Date): Promise<Map<string, string | undefined>> {
  const seconds = Math.floor(since.getTime() / 1_000);
  const text = await textInTime(
    [
      ...['log', '-z', '--reverse', '--first-parent', '--no-renames', '--diff-filter=AD', '--name-status'],
      ...[`--since=@${seconds}`, `--max-count=${MAX_COMMITS}`, '--format=%x01', 'HEAD', '--'],
    ],
    { folder },
  );
  const moved = new Map<string, string | undefined>();
  for (const commit of text.split('\x01')) {
    const slugs: Record<string, string[]> = { A: [], D: [] };
    for (const [, status = '', path = ''] of commit.matchAll(/([AD])\0([^\0]+)\0/g)) {
      const slug = pageAt(path)?.slug;
      if (slug !== undefined) slugs[status]?.push(slug);
    }
    const { A: added = [], D: removed = [] } = slugs;
    // Only a push changes several pages at once: no rename can be told among them.
    const to = removed.length === 1 && added.length === 1 ? added[0] : undefined;
    for (const from of removed) {
      for (const [first, last] of moved) if (last === from) moved.set(first, to);
      moved.set(from, to);
    }
  }
  return moved;
}

/** Gives the pages of the container's wiki the rows that follow from the commits since then. */
export async function reconcilePages(
  services: Needs<'database' | 'repositories'>,
  write: InterruptedWrite,
): Promise<void> {
  const { db } = services.database;
  const { kind, id } = write;
  if (kind === 'snippet') return;
  const wiki = await selectWiki(db, { owner: kind === 'group' ? 'group_id' : 'project_id', id });
  const places = await readWiki(services, wiki, 'HEAD', async (git, { tree }) => {
    const pageOf = async (slug: string): Promise<Page | undefined> => {
      const page = await findPage(git, tree, slug);
      return page?.slug === slug ? page : undefined;
    };
    const found: { from: string; page: Page | undefined }[] = [];
    for (const [from, to] of await movedSince(git, write.beganAt))
      if (!(await pageOf(from))) found.push({ from, page: to === undefined ? undefined : await pageOf(to) });
    return found;
  });
  if (!places || places.length === 0) return;
  await inTransaction(db, async (tx) => {
    // After several interrupted writes, several jobs reconcile the same pages: one after the other, or an older row is lost.
    await sql`select from ${sql.table(containerTables[write.kind])} where id = ${write.id} for no key update`.execute(
      tx,
    );
    for (const { from, page } of places) await reconcilePage(tx, wiki, from, page);
  });
}

async function reconcilePage(tx: Db, wiki: Wiki, from: string, page: Page | undefined): Promise<void> {
  if (!page) {
    await forgetPage(tx, wiki, from);
    return;
  }
  const rows = await tx
    .selectFrom('wiki_pages')
    .select(['id', 'slug'])
    .where(wiki.owner, '=', wiki.id)
    .where('slug', 'in', [from, page.slug])
    .forUpdate()
    .execute();
  const before = rows.find(({ slug }) => slug === from);
  const now = rows.find(({ slug }) => slug === page.slug);
  if (!before) return;
  // The page has an older row already: the one that is left came from a reader in between.
  if (now && now.id < before.id) await forgetPage(tx, wiki, from);
  else await keepPage(tx, wiki, from, page);
}
