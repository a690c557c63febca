/** The files that a configuration includes, as the one who starts the pipeline may read them. */
import { type AuthorizedProject, selectProjectAt } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { fullRef, isRefName } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findCommit, listRefs, peelToCommit } from '../../../platform/git/refs.ts';
import { findEntry, walkTree } from '../../../platform/git/trees.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import { rulesOf } from '../../hooks/index.ts';
import { publishedAt, readRepository } from '../../repositories/index.ts';
import type { Component, Files, RemoteText, SourceCommit } from '../file/context.ts';
import {
  componentAddress,
  componentPaths,
  isShorthand,
  type Version,
  versionsFor,
  versionsOf,
} from './components.ts';

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

function once<T>(known: Map<string, Promise<T>>, key: string, find: () => Promise<T>): Promise<T> {
  const finding = known.get(key) ?? find();
  known.set(key, finding);
  return finding;
}

/** Files of the project itself by its receipt; of others by the actor's rights on them. */
export function createFiles(services: FileServices, actor: Actor, own: AuthorizedProject): Files {
  const projects = new Map<string, Promise<AuthorizedProject | undefined>>([
    [own.fullPath.toLowerCase(), Promise.resolve(own)],
  ]);
  const projectAt = (path: string): Promise<AuthorizedProject | undefined> =>
    once(projects, path.toLowerCase(), () =>
      selectProjectAt(services.database.points, actor, 'read_code', path),
    );
  const released = new Map<string, Promise<Version[]>>();
  const found = new Map<string, ReturnType<typeof findVersion>>();
  /** A file may include a hundred components of one project, which may have very many tags. */
  const versionAt = (project: AuthorizedProject, reference: string) =>
    once(found, `${project.id} ${reference}`, () =>
      readRepository(services, project, (git) =>
        findVersion(services, project, git, reference, () =>
          once(released, String(project.id), async () =>
            versionsOf((await listRefs(git, 'tag')).map(({ name }) => name)),
          ),
        ),
      ),
    );
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
      const version = await versionAt(project, reference);
      if (!version) return undefined;
      return readRepository(services, project, async (git): Promise<Component | undefined> => {
        const at = { project: project.fullPath, sha: version.commit.oid };
        for (const path of componentPaths(name)) {
          const text = await readText(git, at.sha, path);
          if (text !== undefined) return { text, at, name, version: version.version, reference };
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
  released: () => Promise<Version[]>,
): Promise<{ commit: Commit; version: string } | undefined> {
  let tag: string | undefined;
  if (isShorthand(reference)) {
    const versions = versionsFor(reference, await released()).slice(0, MAX_VERSIONS);
    const releases = await publishedAt({ db: services.database.db, services }, project, versions);
    tag = versions.find((each) => releases.has(each)) ?? versions[0];
  }
  const name = tag ?? reference;
  // A tag comes before a branch of the same name.
  const tagged = isRefName(name) ? await peelToCommit(git, fullRef('tag', name)) : undefined;
  const commit = tagged ?? (tag === undefined ? await findCommit(git, reference) : undefined);
  return commit && { commit, version: name };
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
