/** The text of one file that is included, or why there is none. */
import { digest } from '../../../../platform/secret.ts';
import type { Files, RemoteText, SourceCommit } from '../context.ts';
import type { ComponentFields } from '../inputs/config-file.ts';
import type { IncludeEntry } from './entries.ts';
import { templateText } from './templates.ts';

export type Fetched = {
  text: string;
  /** Where local paths in it are found; null where nothing is local. */
  at: SourceCommit | null;
  component?: ComponentFields;
};

const REMOTE_FAILURES = {
  socket: 'because of a socket error',
  timeout: 'because of a timeout error',
  http: 'because of HTTP error',
};

/** `shown` is the location as messages have it. */
export async function fetchInclude(
  entry: IncludeEntry,
  shown: string,
  from: SourceCommit | null,
  files: Files,
): Promise<Fetched | string> {
  switch (entry.kind) {
    case 'local': {
      if (!from) return `Local file \`${shown}\` does not have project!`;
      const text = await files.read(entry.location, from);
      if (text === undefined) return `Local file \`${shown}\` does not exist!`;
      return text.trim() === '' ? `Local file \`${shown}\` is empty!` : { text, at: from };
    }
    case 'project':
      return fetchFromProject(entry, shown, files);
    case 'remote':
      return fetchRemote(entry, shown, files);
    case 'template': {
      if (!entry.location.endsWith('.gitlab-ci.yml'))
        return `Template file \`${shown}\` is not a valid location!`;
      const text = templateText(entry.location);
      return text ? { text, at: null } : `Included file \`${shown}\` is empty or does not exist!`;
    }
    case 'component': {
      const found = await files.component(entry.location);
      if (!found) return `Component '${shown}' - content not found`;
      const { name, version, reference, at } = found;
      return { text: found.text, at, component: { name, version, reference, sha: at.sha } };
    }
    case 'artifact': {
      if (!files.artifact)
        return 'Including configs from artifacts is only allowed when triggering child pipelines';
      if (!entry.job) return 'Job must be provided when including configs from artifacts';
      const text = await files.artifact(entry.job, entry.location);
      if (text === undefined)
        return `Job \`${entry.job}\` not found in parent pipeline or does not have artifacts!`;
      return { text, at: from };
    }
  }
}

async function fetchFromProject(
  { project, ref, location }: IncludeEntry,
  shown: string,
  files: Files,
): Promise<Fetched | string> {
  const at = await files.commit(project ?? '', ref);
  if (at === 'no_project')
    return `Project \`${project}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`;
  if (at === 'no_ref') return `Project \`${project}\` reference \`${ref ?? 'HEAD'}\` does not exist!`;
  const text = await files.read(location, at);
  if (text === undefined) return `Project \`${project}\` file \`${shown}\` does not exist!`;
  return text.trim() === '' ? `Project \`${project}\` file \`${shown}\` is empty!` : { text, at };
}

async function fetchRemote(
  { location, integrity }: IncludeEntry,
  shown: string,
  files: Files,
): Promise<Fetched | string> {
  if (!/^https?:$/.test(URL.parse(location)?.protocol ?? ''))
    return `Remote file \`${shown}\` does not have a valid address!`;
  const remote = await files.remote(location);
  if (remote.kind !== 'found') return remoteProblem(remote, shown);
  if (remote.text.trim() === '') return 'Remote file could not be fetched because the response was empty!';
  if (integrity !== null && integrity !== `sha256-${digest(remote.text).toString('base64')}`)
    return `Remote file \`${shown}\` failed integrity check!`;
  return { text: remote.text, at: null };
}

function remoteProblem(remote: Exclude<RemoteText, { kind: 'found' }>, shown: string): string {
  if (remote.kind === 'refused') return `Remote file could not be fetched because ${remote.reason}!`;
  const { reason, attempts } = remote;
  const cause =
    typeof reason === 'number' ? `because of HTTP code \`${reason}\` error` : REMOTE_FAILURES[reason];
  return `Remote file \`${shown}\` could not be fetched after ${attempts} attempt${attempts === 1 ? '' : 's'} ${cause}!`;
}
