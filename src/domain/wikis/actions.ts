/** Changes of a wiki: a commit of the caller's, and then the page's row and the activity. */
import { announce, announcementParts } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import { type ApplicationSettings, firstBranchName } from '../../kernel/settings/definitions.ts';
import { inTransaction } from '../../platform/db/database.ts';
import { Failure, invalid, notFound } from '../../platform/failure.ts';
import { shortRef } from '../../platform/git/names.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { type Commit, type NewObject, newBlob } from '../../platform/git/parse.ts';
import { textInTime } from '../../platform/git/program/long-runs.ts';
import { findBranch, headRef } from '../../platform/git/refs.ts';
import { findEntry, PathConflict, type TreeChange } from '../../platform/git/trees.ts';
import { randomHex } from '../../platform/secret.ts';
import { authorOf, commitChanges, countingWrite, countWrite } from '../repositories/index.ts';
import { isKey, joinFrontMatter, MAX_FRONT_MATTER, splitFrontMatter } from './front-matter.ts';
import { forgetPage, keepPage } from './page-actions.ts';
import { findPage, type Page, readTexts } from './pages.ts';
import { presentPage } from './present.ts';
import { attachmentName, endingFor, endings, markdownOf, nameOf } from './rules.ts';
import type { AttachmentInput, CreateInput, UpdateInput, WikiAttachment, WikiPage } from './schema.ts';
import { readWiki, type Wiki } from './wiki.ts';
import { type WikiAction, wikiFact } from './wiki-facts.ts';
import { type PageName, presentPageBasic } from './wiki-pages.ts';

/** The context of a change to a wiki. */
export type WikiWriteContext = {
  services: Needs<'database' | 'repositories'>;
  settings: ApplicationSettings;
  actor: Actor;
  wiki: Wiki;
};

export const noPage = (): Failure => notFound('Wiki Page');

const duplicate = (): Failure => invalid({ base: ['Duplicate page: A page with that title already exists'] });

/** Leases the wiki for writing, at the head of its default branch. */
async function onWiki<T>(
  { services, settings, wiki }: WikiWriteContext,
  work: (git: GitFolder, branch: string, head: Commit | undefined) => Promise<T>,
): Promise<T> {
  await wiki.ensureStorage(services, settings);
  return services.repositories.write(wiki.key, firstBranchName(settings), async (git) => {
    const branch = shortRef(await headRef(git.folder))?.name ?? 'main';
    return work(git, branch, await findBranch(git, branch));
  });
}

/** The same with the page of a slug; 404 without one, before a repository is made. */
async function onPage<T>(
  context: WikiWriteContext,
  slug: string,
  work: (git: GitFolder, branch: string, head: Commit, page: Page) => Promise<T>,
): Promise<T> {
  const { services, wiki } = context;
  if (!(await readWiki(services, wiki, 'HEAD', (git, { tree }) => findPage(git, tree, slug)))) throw noPage();
  return onWiki(context, async (git, branch, head) => {
    const page = head && (await findPage(git, head.tree, slug));
    if (!page) throw noPage();
    return work(git, branch, head, page);
  });
}

type Edit = {
  changes: readonly TreeChange[];
  blobs: readonly NewObject[];
  message: string;
};

/** The id of the new commit. */
async function commit(
  { actor }: WikiWriteContext,
  git: GitFolder,
  branch: string,
  head: Commit | undefined,
  edit: Edit,
): Promise<string> {
  try {
    const written = await commitChanges(git, { branch, head, author: authorOf(actor), ...edit });
    return written.commit.oid;
  } catch (error) {
    if (error instanceof PathConflict) throw invalid({ title: ['has a page in the place of a folder'] });
    throw error;
  }
}

const pathOf = ({ path }: PageName): string[] => path.split('/');

/** Refuses a name that another page has, in whatever capitals or format, or that another entry has. */
async function refuseTaken(git: GitFolder, tree: string, page: PageName, itself?: Page): Promise<void> {
  if (page.path === itself?.path) return;
  const other = await findPage(git, tree, page.slug);
  if (other && other.path !== itself?.path) throw duplicate();
  if (await findEntry(git, tree, pathOf(page))) throw duplicate();
}

function named(title: string, ending: string): PageName {
  const page = nameOf(title, ending);
  if ('problem' in page) throw invalid({ title: [page.problem] });
  return page;
}

/** The text of a page for its file; 400 for one that is too large. */
function textOf(settings: ApplicationSettings, content: string, frontMatter: Record<string, string>): string {
  if (!Object.keys(frontMatter).every(isKey)) throw invalid({ front_matter: ['is invalid'] });
  const text = joinFrontMatter(frontMatter, content);
  if (text.length - content.length > MAX_FRONT_MATTER) throw invalid({ front_matter: ['is too long'] });
  const size = Buffer.byteLength(text);
  const most = settings.wiki_page_max_content_bytes;
  if (size > most)
    throw invalid({ content: [`is too long (${size} Bytes). The maximum size is ${most} Bytes.`] });
  return text;
}

const put = (page: PageName, mode: string, oid: string): TreeChange => ({
  path: pathOf(page),
  entry: { mode, oid },
});
const remove = (page: PageName): TreeChange => ({ path: pathOf(page), entry: undefined });

/** The new page; 400 for a title that is taken or invalid. */
export async function createPage(context: WikiWriteContext, input: CreateInput): Promise<WikiPage> {
  const { settings, actor } = context;
  const { title, content, format = 'markdown', front_matter = {} } = input;
  const page = named(title, endings[format]);
  const text = textOf(settings, content, front_matter);
  const blob = await newBlob(text);
  return onWiki(context, async (git, branch, head) => {
    if (head) await refuseTaken(git, head.tree, page);
    const oid = await commit(context, git, branch, head, {
      changes: [put(page, '100644', blob.oid)],
      blobs: [blob],
      message: `${actor.username} created page: ${title.trim()}`,
    });
    const id = await record(context, 'created', page, oid);
    return presentPage(page, id, text);
  });
}

/** The changed page, which keeps its id under another title; omitted fields stay. */
export async function updatePage(context: WikiWriteContext, input: UpdateInput): Promise<WikiPage> {
  const { settings, actor } = context;
  const { title, format, content, front_matter } = input;
  return onPage(context, input.slug, async (git, branch, head, before) => {
    const page = named(title ?? before.slug, endingFor(before, format ?? before.format));
    await refuseTaken(git, head.tree, page, before);
    const [old = ''] = await readTexts(git, [before]);
    const text =
      content === undefined && front_matter === undefined
        ? old
        : textOf(settings, content ?? splitFrontMatter(old).content, front_matter ?? {});
    const blob = await newBlob(text);
    const oid = await commit(context, git, branch, head, {
      changes: [remove(before), put(page, before.mode, blob.oid)],
      blobs: [blob],
      message: `${actor.username} updated page: ${title?.trim() ?? before.title}`,
    });
    const id = await record(context, 'updated', page, oid, before.slug);
    return presentPage(page, id, text);
  });
}

/** Removes the page; `unmodified` first gets the time of its last change. */
export async function deletePage(
  context: WikiWriteContext,
  slug: string,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  const { actor } = context;
  await onPage(context, slug, async (git, branch, head, page) => {
    unmodified(await changedAt(git, head, page));
    const oid = await commit(context, git, branch, head, {
      changes: [remove(page)],
      blobs: [],
      message: `${actor.username} deleted page: ${page.title}`,
    });
    await record(context, 'destroyed', page, oid);
  });
}

/** The time of the page's last change, by the history of the branch. */
async function changedAt(git: GitFolder, head: Commit, { path }: PageName): Promise<Date> {
  const seconds = await textInTime(['log', '-1', '--format=%ct', head.oid, '--', path], {
    folder: git.folder,
    environment: { GIT_LITERAL_PATHSPECS: '1' },
  });
  return new Date(Number(seconds) * 1_000);
}

/** Stores a file beside the pages, in a folder of its own. */
export async function attachFile(context: WikiWriteContext, input: AttachmentInput): Promise<WikiAttachment> {
  const name = attachmentName(input.file.filename);
  const path = ['uploads', randomHex(16), name];
  const blob = await newBlob(input.file.bytes);
  return onWiki(context, async (git, shown, shownHead) => {
    const branch = input.branch || shown;
    const head = branch === shown ? shownHead : await findBranch(git, branch);
    if (branch !== shown && !head)
      throw new Failure('bad_request', 'You can only create or edit files when you are on a branch');
    await commit(context, git, branch, head, {
      changes: [{ path, entry: { mode: '100644', oid: blob.oid } }],
      blobs: [blob],
      message: `Upload attachment ${name}`,
    });
    await countWrite(context.services.database.db, context.wiki.key);
    const url = path.join('/');
    return { file_name: name, file_path: url, branch, link: { url, markdown: markdownOf(name, url) } };
  });
}

/**
 * Records the commit in the page's row, which gives its id, and announces it. The activity has projects' pages alone, and
 * alone needs the id of a page that goes.
 */
async function record(
  { services, actor, wiki }: WikiWriteContext,
  action: WikiAction,
  page: PageName,
  oid: string,
  from?: string,
): Promise<number> {
  const { db } = services.database;
  const isGroups = wiki.owner === 'group_id';
  const fact = wikiFact(wiki, actor, { action, page, oid });
  if (isGroups && action !== 'destroyed')
    return keepPage(db, wiki, from, page, {
      statements: [countingWrite(db, wiki.key)],
      parts: announcementParts([{ author: actor, fact }]),
    });
  return inTransaction(db, async (tx) => {
    await countWrite(tx, wiki.key);
    const id = isGroups ? 0 : await keepPage(tx, wiki, from, page);
    if (action === 'destroyed') await forgetPage(tx, wiki, page.slug);
    const activity = {
      action,
      projectId: wiki.id,
      targetType: 'WikiPage::Meta',
      targetId: id,
      details: { target_title: page.title, wiki_page: presentPageBasic(page, id) },
    };
    await announce(tx, { author: actor, ...(!isGroups && { activity }), fact });
    return id;
  });
}
