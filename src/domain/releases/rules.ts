/** Releases: their times, names and addresses (facts-ci: 7.3). Pure. */
import { Failure } from '../../platform/failure.ts';

type Times = { released_at: Date; created_at: Date };

export const isUpcoming = ({ released_at }: Pick<Times, 'released_at'>, time: Date): boolean =>
  released_at > time;

/** Released before it was written down: nobody can say what there was. */
export const isHistorical = ({ released_at, created_at }: Times): boolean => released_at < created_at;

/** When the evidence of a new release is collected: never of a historical one, else when it is released. */
export function evidenceTime(times: Times): 'now' | 'never' | Date {
  if (isHistorical(times)) return 'never';
  return isUpcoming(times, times.created_at) ? times.released_at : 'now';
}

/** The name of a release without one is its tag's. */
export const releaseName = ({ name, tag }: { name: string | null; tag: string }): string => name || tag;

/** Below the project's web address. */
export const releaseUrl = (projectUrl: string, tag: string): string =>
  `${projectUrl}/-/releases/${encodeURIComponent(tag)}`;

const sourceFormats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const;

/** The archives of the code at the tag; `path` is the project's own. */
export const sourcesOf = (projectUrl: string, path: string, tag: string): { format: string; url: string }[] =>
  sourceFormats.map((format) => {
    const file = `${path}-${tag.replaceAll('/', '-')}.${format}`;
    return { format, url: `${projectUrl}/-/archive/${encodeURIComponent(tag)}/${encodeURIComponent(file)}` };
  });

/** The lists of a release's issues and merge requests. */
export function listLinks(projectUrl: string, tag: string) {
  const at = (kind: 'issues' | 'merge_requests', state: string): string =>
    `${projectUrl}/-/${kind}?release_tag=${encodeURIComponent(tag)}&scope=all&state=${state}`;
  return {
    closed_issues_url: at('issues', 'closed'),
    closed_merge_requests_url: at('merge_requests', 'closed'),
    merged_merge_requests_url: at('merge_requests', 'merged'),
    opened_issues_url: at('issues', 'opened'),
    opened_merge_requests_url: at('merge_requests', 'opened'),
  };
}

/** 400 for milestones that the project does not have, named as the client named them. */
export function requireMilestones(
  wanted: { titles: readonly string[] } | { ids: readonly number[] },
  found: readonly { id: number; title: string }[],
): void {
  if ('titles' in wanted) {
    const known = new Set(found.map(({ title }) => title));
    const missing = wanted.titles.filter((title) => !known.has(title));
    if (missing.length > 0) throw new Failure('bad_request', `Milestone(s) not found: ${missing.join(', ')}`);
    return;
  }
  const known = new Set(found.map(({ id }) => id));
  const missing = wanted.ids.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw new Failure('bad_request', `Milestone id(s) not found: ${missing.join(', ')}`);
}

/** The path that follows a permalink, encoded for an address; undefined for one that leads elsewhere. */
export function suffixOf(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.some((part) => part === '.' || part === '..')) return undefined;
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

/** Characters of Markdown that are rendered for one response: as many as one description may have. */
const MAX_RENDERED_LENGTH = 1_048_576;

/** How many texts of these lengths, from the first on, are rendered. */
export function countRendered(lengths: readonly number[]): number {
  let left = MAX_RENDERED_LENGTH;
  const end = lengths.findIndex((length) => {
    left -= length;
    return left < 0;
  });
  return end === -1 ? lengths.length : end;
}
