/** Pushes, as hooks are told of them (facts-merge-requests: 10.5, 10.7). */
import { changedPaths } from '../../../platform/git/history/changed-files.ts';
import { commitIdsBetween, readBeginnings } from '../../../platform/git/history/history.ts';
import { NO_OBJECT, type RefKind, shortRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { type Commit, parseTag } from '../../../platform/git/parse.ts';
import { findBranch, listRefs, peelToCommit } from '../../../platform/git/refs.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import {
  type HookContext,
  type HookEvent,
  type HookNoteable,
  type HookSample,
  type HookServices,
  hookCommit,
  hookProject,
  hookRepository,
  hookSource,
  readContext,
} from '../../hooks/index.ts';
import { changeOf } from '../commits/queries.ts';
import { guardRefs, type RefGuard } from '../protection/protection.ts';
import { countCommits, knownBefore } from '../pushes/pushes.ts';
import type { ShownOptions } from '../pushes/shown-options.ts';
import { projectRepository } from '../store/containers.ts';

/** The newest commits of a push that are told. */
const MAX_COMMITS = 20;
/** Characters of their messages: git does not bound them. */
const MAX_MESSAGE_LENGTH = 65_536;

type PushFact = {
  project_id: number;
  user_id: number | null;
  updates: readonly RefUpdate[];
  options?: ShownOptions;
};

/** The newest commits that the push brought, oldest first. */
async function newCommits(git: GitFolder, update: RefUpdate): Promise<Commit[]> {
  if (update.after === NO_OBJECT) return [];
  const ids = await commitIdsBetween(git, await knownBefore(git, update), update.after, MAX_COMMITS);
  return readBeginnings(git, ids.toReversed(), MAX_MESSAGE_LENGTH);
}

/** The commits with the paths that each changed. */
async function commitParts(git: GitFolder, projectUrl: string, commits: readonly Commit[]) {
  const pairs = await Promise.all(commits.map((commit) => changeOf(git, commit)));
  const paths = await changedPaths(git, pairs);
  return commits.map((commit, place) => ({
    ...hookCommit(projectUrl, commit),
    ...(paths[place] ?? { added: [], modified: [], removed: [] }),
  }));
}

/** Of an annotated tag. */
async function annotationOf(git: GitFolder, oid: string): Promise<string | null> {
  const object = await git.read(oid);
  return object?.type === 'tag' ? parseTag(oid, object.content).message.trim() : null;
}

const repositoryPart = (context: HookContext) => {
  const project = hookProject(context.around, context.project);
  const { git_http_url, git_ssh_url, visibility_level } = project;
  return {
    project,
    repository: { ...hookRepository(project), git_http_url, git_ssh_url, visibility_level },
  };
};

const pusherPart = ({ user }: HookContext) => ({
  user_id: user?.id ?? null,
  user_name: user?.name ?? null,
  user_username: user?.username ?? null,
  user_email: user?.public_email ?? '',
  user_avatar: user?.avatar_url ?? null,
});

type Repository = { git: GitFolder; guard: RefGuard };

/** The event of one branch or tag; `whole` with its commits. */
async function pushEvent(
  context: HookContext,
  { git, guard }: Repository,
  update: RefUpdate,
  {
    kind,
    name,
    whole,
    options = {},
  }: { kind: RefKind; name: string; whole: boolean; options?: ShownOptions },
): Promise<HookEvent> {
  const { ref, before, after } = update;
  const { project, repository } = repositoryPart(context);
  const isTag = kind === 'tag';
  const commits =
    isTag || !whole ? [] : await commitParts(git, project.web_url, await newCommits(git, update));
  const checkout = after === NO_OBJECT ? undefined : isTag ? await peelToCommit(git, after) : { oid: after };
  return {
    flag: isTag ? 'tag_push_events' : 'push_events',
    for: whole ? 'inside' : 'instance',
    ...(!isTag && { branch: name }),
    body: {
      object_kind: isTag ? 'tag_push' : 'push',
      event_name: isTag ? 'tag_push' : 'push',
      before,
      after,
      ref,
      ref_protected: isTag ? guard.isProtectedTag(name) : guard.isProtected(name),
      checkout_sha: checkout?.oid ?? null,
      message: isTag && after !== NO_OBJECT ? await annotationOf(git, after) : null,
      ...pusherPart(context),
      project_id: context.project.id,
      project,
      commits,
      total_commits_count: isTag ? 0 : await countCommits(git, update),
      push_options: options,
      repository,
    },
  };
}

/** What the instance's hooks are told once of any push. */
function updateEvent(context: HookContext, updates: readonly RefUpdate[]): HookEvent {
  const { user_username: _, ...pusher } = pusherPart(context);
  return {
    flag: 'repository_update_events',
    body: {
      event_name: 'repository_update',
      ...pusher,
      project_id: context.project.id,
      project: hookProject(context.around, context.project),
      changes: updates.map(({ ref, before, after }) => ({ before, after, ref })),
      refs: [...new Set(updates.map(({ ref }) => ref))],
    },
  };
}

/** Reads the project's repository with the rules for its refs; undefined where it is gone. */
async function inRepository<T>(
  services: HookServices,
  { project }: HookContext,
  work: (repository: Repository) => Promise<T>,
): Promise<T | undefined> {
  const settings = await services.settings.read();
  return services.repositories.read(projectRepository(project.id), project.repository_storage, async (git) =>
    work({
      git,
      guard: await guardRefs(services.database.background, { id: project.id, role: 0 }, undefined, settings),
    }),
  );
}

export const pushHooks = hookSource<PushFact>({
  fact: 'repository_pushed',
  flags: ['push_events', 'tag_push_events', 'repository_update_events'],
  async eventsOf(services, { project_id, user_id, updates, options = {} }) {
    const context = await readContext(services, project_id, user_id);
    if (!context) return [];
    const named = updates.flatMap((update) => {
      const short = shortRef(update.ref);
      return short ? [{ update, ...short }] : [];
    });
    if (named.length === 0) return [];
    const { push_event_hooks_limit: limit } = await services.settings.read();
    const told = (['branch', 'tag'] as const).flatMap((kind) => {
      const ofKind = named.filter((each) => each.kind === kind);
      return ofKind.length > limit ? [] : ofKind;
    });
    const events = await inRepository(services, context, async (repository) => {
      const all: HookEvent[] = [];
      for (const { update, kind, name } of told)
        for (const whole of [true, false])
          all.push(await pushEvent(context, repository, update, { kind, name, whole, options }));
      return all;
    });
    return [
      ...(events ?? []),
      updateEvent(
        context,
        named.map(({ update }) => update),
      ),
    ];
  },
});

/** A push of the newest commit of the default branch, or of a tag. */
const sampleOf = (kind: RefKind): HookSample => ({
  flag: kind === 'tag' ? 'tag_push_events' : 'push_events',
  async eventFor(services, { projectId, userId }) {
    const missing = { missing: 'Ensure the project has commits.' };
    const context = await readContext(services, projectId, userId);
    if (!context) return missing;
    const branch = context.project.default_branch ?? '';
    const event = await inRepository(services, context, async (repository) => {
      const { git } = repository;
      const [tag] = kind === 'tag' ? await listRefs(git, 'tag', 'updated_desc') : [];
      const head = await findBranch(git, branch);
      const name = kind === 'tag' ? tag?.name : branch;
      const after = kind === 'tag' ? tag?.oid : head?.oid;
      if (name === undefined || after === undefined) return undefined;
      const before = kind === 'tag' ? NO_OBJECT : (head?.parents[0] ?? NO_OBJECT);
      const update = { ref: `refs/${kind === 'tag' ? 'tags' : 'heads'}/${name}`, before, after };
      return pushEvent(context, repository, update, { kind, name, whole: true });
    });
    return event ?? missing;
  },
});

export const pushSamples = [sampleOf('branch'), sampleOf('tag')];

/** A commit as what comments are on. */
export const commitOfNotes: HookNoteable = {
  type: 'Commit',
  field: 'commit',
  async partOf(services, context, id) {
    const commit = await inRepository(services, context, ({ git }) => peelToCommit(git, String(id)));
    if (!commit) return undefined;
    const part = hookCommit(hookProject(context.around, context.project).web_url, commit);
    return { part, url: part.url, isConfidential: false };
  },
};
