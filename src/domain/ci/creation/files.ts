/** The files that a configuration includes, as the one who starts the pipeline may read them. */
import { type AuthorizedProject, selectProjectAt } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { fullRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findCommit, listRefs, peelToCommit } from '../../../platform/git/refs.ts';
import { findEntry, walkTree } from '../../../platform/git/trees.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import { rulesOf } from '../../hooks/index.ts';
import { publishedAt, readRepository } from '../../repositories/index.ts';
import type { Component, Files, RemoteText, SourceCommit } from '../file/context.ts';
import { componentAddress, componentPaths, isShorthand, versionsFor } from './components.ts';

/** Bytes of a file; a longer one is refused as too big by the reader of files. */
const MAX_FILE_BYTES = 2 * 1_048_576 + 1;
/** Paths that rules are matched with. */
const MAX_PATHS = 50_000;
/** Of the newest versions of a component that are asked for their release. */
const MAX_VERSIONS = 1_000;
const REMOTE_TIMEOUT_MS = 10_000;

type FileServices = Needs<'database' | 'repositories' | 'outbound' | 'settings' | 'registered' | 'baseUrl'>;

/** The text of a file at a commit; undefined without one. */
async function readText(git: GitFolder, sha: string, path: string): Promise<string | undefined> {
  const commit = await findCommit(git, sha);
  const entry = commit && (await findEntry(git, commit.tree, path.split('/').filter(Boolean)));
  if (!entry?.mode.startsWith('100')) return undefined;
  const info = await git.info(entry.oid);
  if (info?.type !== 'blob' || info.size > MAX_FILE_BYTES) return undefined;
  return (await git.read(entry.oid, info))?.content.toString('utf8');
}

async function listPaths(git: GitFolder, sha: string): Promise<string[]> {
  const commit = await findCommit(git, sha);
  const paths: string[] = [];
  if (!commit) return paths;
  for await (const { path, mode } of walkTree(git, commit.tree)) {
    if (mode === '40000') continue;
    paths.push(path);
    if (paths.length >= MAX_PATHS) break;
  }
  return paths;
}

/** Files of the project itself by its receipt; of others by the actor's rights on them. */
export function createFiles(services: FileServices, actor: Actor, own: AuthorizedProject): Files {
  const projects = new Map<string, Promise<AuthorizedProject | undefined>>([
    [own.fullPath.toLowerCase(), Promise.resolve(own)],
  ]);
  const projectAt = (path: string): Promise<AuthorizedProject | undefined> => {
    const key = path.toLowerCase();
    const known = projects.get(key) ?? selectProjectAt(services.database.points, actor, 'read_code', path);
    projects.set(key, known);
    return known;
  };
  const reading = async <T>(
    { project }: Pick<SourceCommit, 'project'>,
    work: (git: GitFolder) => Promise<T>,
  ) => {
    const found = await projectAt(project);
    return found && readRepository(services, found, work);
  };
  return {
    async commit(path, ref) {
      const project = await projectAt(path);
      if (!project) return 'no_project';
      const name = ref ?? project.row.default_branch ?? 'HEAD';
      const commit = await readRepository(services, project, (git) => findCommit(git, name));
      return commit ? { project: project.fullPath, sha: commit.oid } : 'no_ref';
    },
    read: (path, at) => reading(at, (git) => readText(git, at.sha, path)),
    paths: async (at) => (await reading(at, (git) => listPaths(git, at.sha))) ?? [],
    remote: (url) => fetchText(services, url),
    async component(address) {
      const wanted = componentAddress(address, new URL(services.baseUrl()).host);
      const project = wanted && (await projectAt(wanted.project));
      if (!project) return undefined;
      const { name, version: reference } = wanted;
      return readRepository(services, project, async (git): Promise<Component | undefined> => {
        const found = await findVersion(services, project, git, reference);
        if (!found) return undefined;
        const at = { project: project.fullPath, sha: found.commit.oid };
        for (const path of componentPaths(name)) {
          const text = await readText(git, at.sha, path);
          if (text !== undefined) return { text, at, name, version: found.version, reference };
        }
        return undefined;
      });
    },
  };
}

/** The commit of a component's version, and what the version is called: of a shorthand, the tag for which it stands. */
async function findVersion(
  services: FileServices,
  project: AuthorizedProject,
  git: GitFolder,
  reference: string,
): Promise<{ commit: Commit; version: string } | undefined> {
  let tag: string | undefined;
  if (isShorthand(reference)) {
    const tags = (await listRefs(git, 'tag')).map(({ name }) => name);
    const versions = versionsFor(reference, tags).slice(0, MAX_VERSIONS);
    const releases = await publishedAt({ db: services.database.db, services }, project, versions);
    tag = versions.find((each) => releases.has(each)) ?? versions[0];
  }
  const commit =
    tag === undefined ? await findCommit(git, reference) : await peelToCommit(git, fullRef('tag', tag));
  return commit && { commit, version: tag ?? reference };
}

/** The text behind an address, by the administrator's rules for addresses. */
async function fetchText({ outbound, settings }: FileServices, url: string): Promise<RemoteText> {
  try {
    const { status, body } = await outbound(url, {
      ...rulesOf(await settings.read(), false),
      timeoutMilliseconds: REMOTE_TIMEOUT_MS,
      maximumBytes: MAX_FILE_BYTES,
    });
    return status === 200
      ? { kind: 'found', text: body.toString('utf8') }
      : { kind: 'failed', reason: status, attempts: 1 };
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    if (error.reason === 'address') return { kind: 'refused', reason: error.message };
    const reasons = { timeout: 'timeout', network: 'socket' } as const;
    return {
      kind: 'failed',
      reason: error.reason in reasons ? reasons[error.reason as keyof typeof reasons] : 'http',
      attempts: 1,
    };
  }
}
