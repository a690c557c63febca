/** What a document names must be in it, once. Names of users, groups and projects count in any case. Pure. */
import { pathProblems } from '../../kernel/namespaces/paths.ts';
import { DEFAULT_BRANCH, personIn, planHistory } from './history.ts';
import { type Path, quoted } from './read-document.ts';
import type { SeedDocument, SeedProject } from './schema.ts';
import type { Problem } from './structure.ts';

/** Of a project whose path is one part alone, root is the owner. */
export const fullPathOf = ({ path }: Pick<SeedProject, 'path'>): string =>
  path.includes('/') ? path : `root/${path}`;
export const parentPath = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
export const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const emailOf = ({ username, email }: { username: string; email?: string }): string =>
  email ?? `${username}@example.com`;

type Holder = { labels?: readonly { name: string }[]; milestones?: readonly { title: string }[] };

/** In no order, at most about so many: `limit`. */
export function referenceProblems(document: SeedDocument, limit: number): Problem[] {
  const problems: Problem[] = [];
  const say = (path: Path, message: string): void => {
    problems.push({ message, path });
  };
  const { users = [], groups = [], projects = [], applications = [] } = document;
  const usernames = new Set(['root', ...users.map(({ username }) => username.toLowerCase())]);
  const groupsByPath = new Map(groups.map((group) => [group.path.toLowerCase(), group]));

  const once = (kind: string) => {
    const seen = new Set<string>();
    return (key: string, path: Path, shown = key): void => {
      if (seen.has(key)) say(path, `${kind} ${quoted(shown)} is described twice`);
      seen.add(key);
    };
  };
  const user = (name: string | undefined, path: Path): void => {
    if (name !== undefined && !usernames.has(name.toLowerCase()))
      say(path, `no user ${quoted(name)} is described`);
  };
  const person = (text: string | undefined, path: Path): void => {
    if (text !== undefined && !personIn(text)) user(text, path);
  };
  const allowed = (path: string, at: Path): void => {
    const level = path.includes('/') ? 'nested' : 'top_level';
    for (const problem of pathProblems(lastPart(path), level))
      say(at, `${quoted(lastPart(path))} as a path: ${problem}`);
  };
  const members = (all: object | undefined, path: Path): void => {
    for (const name of Object.keys(all ?? {})) user(name, [...path, 'members', name]);
  };
  const holder = ({ labels = [], milestones = [] }: Holder, path: Path): void => {
    const [label, milestone] = [once('the label'), once('the milestone')];
    for (const [i, { name }] of labels.entries()) label(name, [...path, 'labels', i]);
    for (const [i, { title }] of milestones.entries()) milestone(title, [...path, 'milestones', i]);
  };
  const tokenValue = once('a token with the value');
  const tokens = (
    all: readonly { name: string; value?: string; sha256?: string }[] = [],
    path: Path,
  ): void => {
    const tokenName = once('the token');
    for (const [i, { name, value, sha256 }] of all.entries()) {
      const at = [...path, 'tokens', i];
      tokenName(name, at);
      if ((value === undefined) === (sha256 === undefined)) say(at, 'a token has either "value" or "sha256"');
      tokenValue(value === undefined ? `sha256 ${sha256}` : `value ${value}`, at, value ?? sha256);
    }
  };

  const address = once('the address');
  const describedUser = once('the user');
  for (const [i, each] of users.entries()) {
    const at: Path = ['users', i];
    describedUser(each.username.toLowerCase(), at, each.username);
    address(emailOf(each).toLowerCase(), at, emailOf(each));
    allowed(each.username, [...at, 'username']);
    tokens(each.tokens, at);
  }

  const place = once('the path');
  for (const name of usernames) place(name, ['users'], name);
  for (const [i, group] of groups.entries()) {
    const at: Path = ['groups', i];
    place(group.path.toLowerCase(), at, group.path);
    const above = parentPath(group.path);
    if (above !== '' && !groupsByPath.has(above.toLowerCase()))
      say([...at, 'path'], `no group ${quoted(above)} is described`);
    allowed(group.path, [...at, 'path']);
    members(group.members, at);
    holder(group, at);
  }

  /** The project, and the groups above it. */
  const holdersOf = (project: SeedProject): Holder[] => {
    const found: Holder[] = [project];
    for (let path = parentPath(fullPathOf(project)); path !== ''; path = parentPath(path))
      found.push(groupsByPath.get(path.toLowerCase()) ?? {});
    return found;
  };

  for (const [i, project] of projects.entries()) {
    if (problems.length >= limit) return problems;
    const at: Path = ['projects', i];
    const path = fullPathOf(project);
    place(path.toLowerCase(), at, path);
    const above = parentPath(path);
    if (!groupsByPath.has(above.toLowerCase()) && !usernames.has(above.toLowerCase()))
      say([...at, 'path'], `no group or user ${quoted(above)} is described`);
    allowed(path, [...at, 'path']);
    members(project.members, at);
    holder(project, at);
    tokens(project.tokens, at);

    const { history, problems: ofHistory } = planHistory(project, at);
    problems.push(...ofHistory);
    for (const [j, { author, committer }] of (project.commits ?? []).entries()) {
      person(author, [...at, 'commits', j, 'author']);
      person(committer, [...at, 'commits', j, 'committer']);
    }
    for (const [name, tag] of Object.entries(project.tags ?? {}))
      if (typeof tag !== 'string') person(tag.tagger, [...at, 'tags', name, 'tagger']);
    const branch = (name: string, path: Path): void => {
      if (!history.branches.has(name)) say(path, `the project has no branch ${quoted(name)}`);
    };

    const holders = holdersOf(project);
    const labels = new Set(holders.flatMap(({ labels = [] }) => labels.map(({ name }) => name)));
    const milestones = new Set(
      holders.flatMap(({ milestones = [] }) => milestones.map(({ title }) => title)),
    );
    for (const kind of ['issues', 'merge_requests'] as const) {
      const number = once(kind === 'issues' ? 'the issue' : 'the merge request');
      for (const [j, each] of (project[kind] ?? []).entries()) {
        const here: Path = [...at, kind, j];
        number(
          each.iid === undefined ? `title ${each.title}` : `iid ${each.iid}`,
          here,
          `${each.iid ?? each.title}`,
        );
        user(each.author, [...here, 'author']);
        for (const [k, name] of (each.labels ?? []).entries())
          if (!labels.has(name)) say([...here, 'labels', k], `no label ${quoted(name)} is described there`);
        if (each.milestone !== undefined && !milestones.has(each.milestone))
          say([...here, 'milestone'], `no milestone ${quoted(each.milestone)} is described there`);
        for (const [k, name] of (each.assignees ?? []).entries()) user(name, [...here, 'assignees', k]);
        for (const [k, { author }] of (each.comments ?? []).entries())
          user(author, [...here, 'comments', k, 'author']);
      }
    }
    for (const [j, { source_branch, target_branch, reviewers = [] }] of (
      project.merge_requests ?? []
    ).entries()) {
      const here: Path = [...at, 'merge_requests', j];
      branch(source_branch, [...here, 'source_branch']);
      branch(target_branch ?? project.default_branch ?? DEFAULT_BRANCH, [...here, 'target_branch']);
      for (const [k, name] of reviewers.entries()) user(name, [...here, 'reviewers', k]);
    }
    const pipeline = once('the pipeline of');
    for (const [j, { ref = project.default_branch ?? DEFAULT_BRANCH, commit }] of (
      project.pipelines ?? []
    ).entries()) {
      const here: Path = [...at, 'pipelines', j];
      const index =
        commit === undefined
          ? (history.branches.get(ref) ?? history.tags.get(ref)?.commit)
          : history.ids.get(commit);
      if (!history.branches.has(ref) && !history.tags.has(ref))
        say([...here, 'ref'], `the project has no branch or tag ${quoted(ref)}`);
      else if (index === undefined) say([...here, 'commit'], `no commit has the id ${quoted(commit ?? '')}`);
      else pipeline(`${ref} ${index}`, here, `${ref}`);
    }
  }

  const application = once('the application');
  for (const [i, { id, secret, sha256, confidential = true }] of applications.entries()) {
    const at: Path = ['applications', i];
    application(id, at);
    if (secret !== undefined && sha256 !== undefined)
      say(at, 'an application has either "secret" or "sha256"');
    if (confidential && secret === undefined && sha256 === undefined)
      say(at, 'a confidential application has a "secret", or the "sha256" of one');
  }
  return problems;
}
