/** Pages of wikis, as hooks are told of them (facts-merge-requests: 10.5). */
import { Failure } from '../../../platform/failure.ts';
import { shortRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { headRef } from '../../../platform/git/refs.ts';
import {
  absoluteImages,
  type HookEvent,
  type HookPlace,
  type HookSample,
  type HookServices,
  hookSource,
  hookUser,
  NO_SSH_URL,
  readActor,
  readPlace,
} from '../../hooks/index.ts';
import { splitFrontMatter } from '../front-matter.ts';
import { findPage, listPages, type Page, readTexts } from '../pages.ts';
import { selectWiki } from '../queries.ts';
import { readWiki } from '../wiki.ts';
import type { WikiAction } from '../wiki-facts.ts';
import type { PageName } from '../wiki-pages.ts';

type Told = { user_id: number | null; action: WikiAction; page: PageName };
type WikiPageFact = HookPlace & Told & { version_id: string };

const actions = {
  created: 'create',
  updated: 'update',
  destroyed: 'delete',
} as const satisfies Record<WikiAction, string>;

const readWikiOf = async <T>(
  services: HookServices,
  place: HookPlace,
  ...reading: [revision: string, work: Parameters<typeof readWiki<T>>[3]]
): Promise<T | undefined> => {
  const owner =
    'project_id' in place
      ? { owner: 'project_id' as const, id: place.project_id }
      : { owner: 'group_id' as const, id: place.namespace_id };
  return readWiki(services, await selectWiki(services.database.background, owner), ...reading);
};

/** The text of the page; undefined where it is more than any payload may be. */
async function textOf(git: GitFolder, page: Page): Promise<string | undefined> {
  try {
    return (await readTexts(git, [page]))[0];
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** The event of a page as it is in the version, or was before that removed it. */
async function wikiPageEvent(
  services: HookServices,
  place: HookPlace,
  { user_id, action, page }: Told,
  version: string,
): Promise<HookEvent[]> {
  const [part, user, read] = await Promise.all([
    readPlace(services, place),
    readActor(services, user_id),
    readWikiOf(services, place, version, async (git, commit) => {
      const present = action === 'destroyed' ? undefined : await findPage(git, commit.tree, page.slug);
      const text = present && (await textOf(git, present));
      return { commit, text, branch: shortRef(await headRef(git.folder))?.name ?? null };
    }),
  ]);
  if (!part || !read) return [];
  const path = 'project' in part ? part.project.path_with_namespace : part.group.full_path;
  const baseUrl = services.baseUrl();
  const wiki = `${baseUrl}/${'project' in part ? '' : 'groups/'}${path}/-/wikis`;
  const url = `${wiki}/${page.slug.split('/').map(encodeURIComponent).join('/')}`;
  const body = {
    object_kind: 'wiki_page',
    user: user && hookUser(user),
    ...part,
    wiki: {
      web_url: `${wiki}/home`,
      git_ssh_url: NO_SSH_URL,
      git_http_url: `${baseUrl}/${path}.wiki.git`,
      path_with_namespace: `${path}.wiki`,
      default_branch: read.branch,
    },
    object_attributes: {
      slug: page.slug,
      title: page.title,
      format: page.format,
      message: read.commit.message.trimEnd(),
      version_id: read.commit.oid,
      ...(read.text !== undefined && {
        content: absoluteImages(splitFrontMatter(read.text).content, { baseUrl, home: `${baseUrl}/${path}` }),
      }),
      url,
      action: actions[action],
      diff_url: `${url}/diff?version_id=${read.commit.oid}`,
    },
  };
  return [{ flag: 'wiki_page_events', body }];
}

export const wikiPageHook = hookSource<WikiPageFact>({
  fact: 'wiki_page_changed',
  flags: ['wiki_page_events'],
  eventsOf: (services, told) => wikiPageEvent(services, told, told, told.version_id),
});

export const wikiPageSample: HookSample = {
  flag: 'wiki_page_events',
  async eventFor(services, { projectId, userId }) {
    const place = { project_id: projectId };
    const page = await readWikiOf(services, place, 'HEAD', async (git, { tree }) => {
      const [first] = await listPages(git, tree);
      return first;
    });
    const told = page && { user_id: userId, action: 'created' as const, page };
    const [event] = told ? await wikiPageEvent(services, place, told, 'HEAD') : [];
    return event ?? { missing: 'Ensure the wiki is enabled and has pages.' };
  },
};
