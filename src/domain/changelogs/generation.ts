/** Makes the section of a version: configuration, range of commits, their authors and merge requests, template. */
import { isUtf8 } from 'node:buffer';
import { type AuthorizedProject, authorizeGroup } from '../../kernel/access/find.ts';
import type { Caller } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import type { Db } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import { commitIdsBetween, readShownCommits } from '../../platform/git/history/history.ts';
import { pathComponents } from '../../platform/git/names.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import type { Commit } from '../../platform/git/parse.ts';
import { findCommit, listRefs } from '../../platform/git/refs.ts';
import { findEntry } from '../../platform/git/trees.ts';
import { patternCompiler } from '../../platform/patterns/pattern.ts';
import { takeTurns } from '../../platform/turns.ts';
import { selectFirstBringing } from '../merge-requests/index.ts';
import { projectUrl, readRepository } from '../repositories/index.ts';
import { byCategory, type Change, changesOf } from './changes.ts';
import {
  type Configuration,
  DEFAULT_FILE,
  MAX_CONFIGURATION_BYTES,
  readConfiguration,
} from './configuration.ts';
import { formatDate } from './dates.ts';
import { type Author, selectAuthors, selectMembers } from './queries.ts';
import { orRefused, refused } from './refusals.ts';
import { sectionOf } from './sections.ts';
import { renderTemplate, type Value } from './template.ts';
import { defaultTagParts, MAX_VERSION_LENGTH, previousTag, type TagParts, type Version } from './versions.ts';

export type Wish = {
  version: Version;
  /** As it is written. */
  name: string;
  from: string | undefined;
  to: string;
  date: Date;
  trailer: string;
  configFile: string | undefined;
  configRef: string | undefined;
};

type Context = {
  db: Db;
  services: Needs<'repositories' | 'database' | 'baseUrl'>;
  actor: Caller;
  subject: AuthorizedProject;
};

/** Commits of a range; the history is read up to there. */
const MAX_COMMITS = 10_000;

/** A file of a commit as text, which is undefined where it is none in UTF-8, or longer than so many bytes. */
export async function readText(
  git: GitFolder,
  { tree }: Pick<Commit, 'tree'>,
  path: string,
  mostBytes: number,
): Promise<{ oid: string; text: string | undefined } | undefined> {
  const parts = pathComponents(path);
  const entry = parts && (await findEntry(git, tree, parts));
  const info = entry?.mode.startsWith('100') ? await git.info(entry.oid) : undefined;
  if (!info) return undefined;
  const object = info.size > mostBytes ? undefined : await git.read(info.oid, info);
  const text = object && isUtf8(object.content) ? object.content.toString('utf8') : undefined;
  return { oid: info.oid, text };
}

/** The configuration at the ref, or at the head of the default branch; 422 for a file that is asked for and not there. */
async function configurationOf(git: GitFolder, { configFile, configRef }: Wish): Promise<Configuration> {
  const commit = await findCommit(git, configRef || 'HEAD');
  if (!commit && configRef) throw refused(`There is no commit ${configRef}`);
  const path = configFile || DEFAULT_FILE;
  const file = commit && (await readText(git, commit, path, MAX_CONFIGURATION_BYTES));
  if (!file && configFile) throw refused(`There is no file ${configFile}`);
  if (file && file.text === undefined) throw refused(`${path} is too long, or no text in UTF-8`);
  return readConfiguration(file?.text);
}

/** The last stable version's tag before the version; 422 where none is found, or the pattern is wrong. */
async function lastTag(git: GitFolder, version: Version, pattern: string | undefined): Promise<string> {
  let partsOf: (name: string) => TagParts | undefined = defaultTagParts;
  if (pattern !== undefined) {
    const compiled = (await patternCompiler())(pattern);
    if ('problem' in compiled) throw refused(`tag_regex ${compiled.problem}`);
    partsOf = compiled.findNamed;
  }
  const previous = previousTag(version);
  const othersTurn = takeTurns();
  for (const tag of await listRefs(git, 'tag')) {
    if (tag.name.length <= MAX_VERSION_LENGTH) previous.take(tag, partsOf(tag.name));
    await othersTurn();
  }
  const found = previous.found();
  if (!found)
    throw refused('The commit start range is unspecified, and no previous tag could be found to use instead');
  return `refs/tags/${found.name}`;
}

/** The commits of the range, newest first. */
async function rangeOf(git: GitFolder, { tagPattern }: Configuration, wish: Wish): Promise<Commit[]> {
  const start = wish.from || (await lastTag(git, wish.version, tagPattern));
  const [from, to] = await Promise.all([findCommit(git, start), findCommit(git, wish.to)]);
  if (!from || !to) throw refused(`There is no commit ${from ? wish.to : start}`);
  const ids = await commitIdsBetween(git, from.oid, to.oid, MAX_COMMITS);
  if (ids.length === MAX_COMMITS) throw refused(`There are more than ${MAX_COMMITS} commits; say from where`);
  return readShownCommits(git, ids);
}

/** The users among these who are members of the groups that are credited, as far as the caller sees the groups. */
async function creditedAmong(
  { db, services, actor }: Context,
  paths: readonly string[],
  userIds: readonly number[],
): Promise<Set<number>> {
  const credited = new Set<number>();
  for (const path of paths) {
    try {
      const group = await authorizeGroup(services.database.points, actor, 'read_group', path);
      for (const id of await selectMembers(db, group, userIds)) credited.add(id);
    } catch (error) {
      // A group that the caller does not see credits nobody.
      if (!(error instanceof Failure)) throw error;
    }
  }
  return credited;
}

type People = { authors: Map<string, Author>; members: Set<number>; credited: Set<number> };

const addressOf = ({ commit }: Change): string => commit.author.email.toLowerCase();

async function peopleOf(
  context: Context,
  { creditedGroups }: Configuration,
  changes: readonly Change[],
): Promise<People> {
  const { db, subject } = context;
  const authors = await selectAuthors(db, [...new Set(changes.map(addressOf))]);
  const ids = [...authors.values()].map(({ id }) => id);
  const [members, credited] = await Promise.all([
    selectMembers(db, subject, ids),
    creditedAmong(context, creditedGroups, ids),
  ]);
  return { authors, members, credited };
}

/** The entries of the changes, as templates see them. */
async function entriesOf(
  context: Context,
  configuration: Configuration,
  changes: readonly Change[],
): Promise<(change: Change) => Value> {
  const { db, services, subject } = context;
  const { authors, members, credited } = await peopleOf(context, configuration, changes);
  const shas = changes.map(({ commit }) => commit.oid);
  const requests = subject.may('read_merge_requests')
    ? await selectFirstBringing(db, subject.id, shas)
    : new Map<string, number>();
  const url = projectUrl(services.baseUrl(), subject);
  return (change) => {
    const { commit, title, trailers } = change;
    const author = authors.get(addressOf(change));
    const iid = requests.get(commit.oid);
    const contributor = author !== undefined && !members.has(author.id);
    return {
      title,
      commit: {
        reference: `${subject.fullPath}@${commit.oid}`,
        web_url: `${url}/-/commit/${commit.oid}`,
        trailers: Object.fromEntries(
          Object.entries(trailers).map(([name, values]) => [name, values.at(-1) ?? '']),
        ),
      },
      ...(author && {
        author: {
          reference: `@${author.username}`,
          contributor,
          credit: contributor || credited.has(author.id),
        },
      }),
      ...(iid !== undefined && {
        merge_request: {
          reference: `${subject.fullPath}!${iid}`,
          web_url: `${url}/-/merge_requests/${iid}`,
        },
      }),
    };
  };
}

/** The section of the version; 422 for what cannot be made. */
export const generateSection = (context: Context, wish: Wish): Promise<string> =>
  orRefused(async () => {
    const read = await readRepository(context.services, context.subject, async (git) => {
      const configuration = await configurationOf(git, wish);
      return { configuration, commits: await rangeOf(git, configuration, wish) };
    });
    if (!read) throw refused('The repository is empty');
    const { configuration, commits } = read;
    const changes = changesOf(commits, wish.trailer);
    const entryOf = await entriesOf(context, configuration, changes);
    const categories = [...byCategory(changes, configuration.categories)].map(([title, own]) => ({
      title,
      count: own.length,
      single_change: own.length === 1,
      entries: own.map(entryOf),
    }));
    const date = formatDate(wish.date, configuration.dateFormat);
    return sectionOf(wish.name, date, renderTemplate(configuration.template, { categories }));
  });
