/** Records a push to a wiki: activity events of a project's pages, as the API records them. */

import { type Announcement, announceAll } from '../../kernel/activity/announce-actions.ts';
import type { Author } from '../../kernel/actor.ts';
import type { RepositoryKey } from '../../kernel/repository-store.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { runForProgram } from '../../platform/fair-share.ts';
import { EMPTY_TREE } from '../../platform/git/history/diff.ts';
import { NO_OBJECT } from '../../platform/git/names.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { textInTime } from '../../platform/git/program/long-runs.ts';
import { headRef } from '../../platform/git/refs.ts';
import type { RefUpdate } from '../../platform/git/write.ts';
import { countWrite } from '../repositories/index.ts';
import { forgetPage, keepPage } from './page-actions.ts';
import { type WikiAction, type WikiChange, wikiFact } from './wiki-facts.ts';
import { pageAt, presentPageBasic, type WikiOwner } from './wiki-pages.ts';

type PageChange = WikiChange & {
  /** The old slug of a renamed page. */
  from?: string;
};

const actions: Readonly<Record<string, WikiAction>> = {
  A: 'created',
  M: 'updated',
  T: 'updated',
  D: 'destroyed',
};

/** Pages of one push that get activity events. */
const MAX_PAGES = 100;

/** The changed files between two commits or trees, with their status; none where git fails. */
async function readNames({ folder }: GitFolder, from: string, to: string): Promise<string> {
  const options = ['-r', '-z', '--no-renames', '--name-status'];
  // The push is taken already: how much else its pusher has running does not count.
  return runForProgram(() => textInTime(['diff-tree', ...options, from, to, '--'], { folder })).catch(
    () => '',
  );
}

/** The changed pages of an update of the branch that the wiki shows; none for an update of another. */
async function changedPages(git: GitFolder, updates: readonly RefUpdate[]): Promise<PageChange[]> {
  const shown = await headRef(git.folder);
  const update = updates.find(({ ref, after }) => ref === shown && after !== NO_OBJECT);
  if (!update) return [];
  const { before, after } = update;
  const text = await readNames(git, before === NO_OBJECT ? EMPTY_TREE : before, after);
  const changes = [...text.matchAll(/([A-Z])\0([^\0]+)\0/g)].flatMap(
    ([, status = '', path = '']): PageChange[] => {
      const page = pageAt(path);
      const action = actions[status];
      return page && action ? [{ action, page, oid: after }] : [];
    },
  );
  const of = (action: WikiAction) => changes.filter((change) => change.action === action);
  const [created, updated, destroyed] = [of('created'), of('updated'), of('destroyed')];
  const [[made], [gone]] = [created, destroyed];
  // Several renames cannot be told apart.
  if (made && gone && created.length === 1 && destroyed.length === 1) {
    const renamed: PageChange = { ...made, action: 'updated', from: gone.page.slug };
    return [renamed, ...updated].slice(0, MAX_PAGES);
  }
  // Removals come first: a page in another format has the same slug.
  return [...destroyed, ...updated, ...created].slice(0, MAX_PAGES);
}

async function reconcilePage(tx: Db, wiki: WikiOwner, { action, page, from }: PageChange): Promise<number> {
  const id = await keepPage(tx, wiki, from, page);
  if (action === 'destroyed') await forgetPage(tx, wiki, page.slug);
  return id;
}

/** Records a push to a wiki. `pusher` is undefined for a pusher without events. */
export async function recordWikiPush(
  db: Db,
  key: RepositoryKey,
  pusher: Author | undefined,
  git: GitFolder,
  updates: readonly RefUpdate[],
): Promise<void> {
  const hears = key.kind === 'project' && pusher !== undefined;
  const changes = hears ? await changedPages(git, updates) : [];
  await inTransaction(db, async (tx) => {
    const announcements: Announcement[] = [];
    for (const change of changes) {
      const { action, page } = change;
      const targetId = await reconcilePage(tx, { owner: 'project_id', id: key.id }, change);
      announcements.push({
        author: pusher,
        activity: {
          action,
          projectId: key.id,
          targetType: 'WikiPage::Meta',
          targetId,
          details: { target_title: page.title, wiki_page: presentPageBasic(page, targetId) },
        },
        fact: wikiFact({ owner: 'project_id', id: key.id }, pusher, change),
      });
    }
    await announceAll(tx, announcements);
    await countWrite(tx, key);
  });
}
