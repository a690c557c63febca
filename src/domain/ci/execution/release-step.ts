/** The step of a job that makes its release, by programs that the job brings (facts for CI: release; Job response JSON). Pure. */
import type { PlannedRelease } from '../file/plan.ts';

/**
 * A text as one word of a POSIX shell. The shell expands what begins with a dollar sign, as these texts name variables of the
 * job, unless a backslash stands before it; all else is what it looks like.
 */
export const expandedWord = (text: string): string => `"${text.replace(/\\(?!\$)|["`]/g, '\\$&')}"`;

const flag = (name: string, text: string | null): string[] =>
  text === null || text === '' ? [] : [`--${name}`, expandedWord(text)];

function linkJson({ name, url, filepath, linkType }: PlannedRelease['links'][number]) {
  return { name, url, ...(filepath && { filepath }), ...(linkType && { link_type: linkType }) };
}

/** A backslash that keeps the shell from a dollar sign is none of the text's. */
const jsonOf = (value: unknown): string => JSON.stringify(value).replaceAll('\\\\$', () => '\\$');

function byReleaseCli(release: PlannedRelease): string {
  return [
    'release-cli create',
    ...flag('name', release.name),
    ...flag('description', release.description),
    ...flag('tag-name', release.tagName),
    ...flag('tag-message', release.tagMessage),
    ...flag('ref', release.ref),
    ...flag('released-at', release.releasedAt),
    ...release.milestones.flatMap((title) => flag('milestone', title)),
    ...release.links.flatMap((link) => flag('assets-link', jsonOf(linkJson(link)))),
  ].join(' ');
}

const LOG_IN =
  'glab auth login --job-token "$CI_JOB_TOKEN" --hostname "$CI_SERVER_FQDN" --api-protocol "$CI_SERVER_PROTOCOL"';

/** It would otherwise change a release that is there, and close milestones. */
const AS_RELEASE_CLI = ['--no-update', '--no-close-milestone'];

function byGlab(release: PlannedRelease): string {
  const { links } = release;
  return [
    'GITLAB_HOST="$CI_SERVER_URL" glab release create -R "$CI_PROJECT_PATH"',
    expandedWord(release.tagName),
    ...(links.length > 0 ? flag('assets-links', jsonOf(links.map(linkJson))) : []),
    ...flag('milestone', release.milestones.join(',')),
    ...flag('name', release.name),
    ...flag('experimental-notes-text-or-file', release.description),
    ...flag('ref', release.ref ?? '$CI_COMMIT_SHA'),
    ...flag('tag-message', release.tagMessage),
    ...flag('released-at', release.releasedAt),
    ...AS_RELEASE_CLI,
  ].join(' ');
}

/** What a POSIX shell is told to make the release: `release-cli` where it is installed, else `glab`. */
export const releaseScript = (
  release: PlannedRelease,
): string => `if command -v release-cli > /dev/null 2>&1; then
  ${byReleaseCli(release)}
else
  ${LOG_IN} &&
  ${byGlab(release)}
fi`;
