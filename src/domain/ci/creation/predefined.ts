/** Variables that every pipeline has before its jobs are known (facts for CI: Predefined variables). Pure. */
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { ProjectRow } from '../../../kernel/namespaces/rows.ts';
import { visibilityName } from '../../../kernel/policy/roles.ts';
import { bodyOf, commitDate, titleOf } from '../../../platform/git/commit-texts.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import type { ContextVariable, PipelineContext } from '../file/context.ts';

/** Where a pipeline comes from that a job of another one started. */
export type Upstream = { job_id: number; pipeline_id: number; project_id: number };

export type PipelineFacts = {
  baseUrl: string;
  apiVersion: string;
  revision: string;
  project: ProjectRow & { fullPath: string };
  configPath: string;
  commit: Commit;
  /** The short name; of a merge request, of its source branch. */
  ref: string;
  kind: PipelineContext['refKind'];
  tagMessage: string | null;
  /** What is published at the tag. */
  release?: { name: string; description: string | null } | undefined;
  protected: boolean;
  beforeSha: string;
  source: string;
  createdAt: Date;
  user: { id: number; username: string; name: string; email: string };
  triggerToken?: string | undefined;
  scheduleDescription?: string | undefined;
  upstream?: Upstream | undefined;
  /** CI_MERGE_REQUEST_ID …, CI_OPEN_MERGE_REQUESTS. */
  ofMergeRequests: readonly ContextVariable[];
  /** Nothing should be deployed now. */
  frozen: boolean;
  /** Groups keep images of another registry. */
  hasProxy: boolean;
};

/** As hosts and images may be named: at most 63 bytes of small letters, digits and dashes. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '');

/** Bytes of a message; a longer one is cut. */
const MAX_MESSAGE_LENGTH = 100_000;
const cut = (message: string): string => Buffer.from(message).subarray(0, MAX_MESSAGE_LENGTH).toString();
const MAX_RELEASE_LENGTH = 1_000;
const DEFAULT_PORTS: Record<string, string> = { 'https:': '443', 'http:': '80' };

/** The host, with its port. */
export function serverOf(baseUrl: string): string {
  const { hostname, port, protocol } = new URL(baseUrl);
  return `${hostname}:${port || DEFAULT_PORTS[protocol]}`;
}

/** As images are named: in small letters, by the server with its port; nothing where the dependency proxy is off. */
function proxyVariables({ baseUrl, project, hasProxy }: PipelineFacts): Record<string, string> {
  if (!hasProxy) return {};
  const server = serverOf(baseUrl);
  const below = (path: string) => `${server}/${path.toLowerCase()}/dependency_proxy/containers`;
  const { namespace_full_path: path } = project;
  return {
    CI_DEPENDENCY_PROXY_SERVER: server,
    CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX: below(path.split('/')[0] ?? ''),
    CI_DEPENDENCY_PROXY_DIRECT_GROUP_IMAGE_PREFIX: below(path),
  };
}

/** In the order of the table; what does not apply is absent. */
export function predefinedVariables(facts: PipelineFacts): ContextVariable[] {
  const { baseUrl, project, commit, ref, kind, user } = facts;
  const url = new URL(baseUrl);
  const [major = '', minor = '', patch = ''] = facts.apiVersion.split(/[.-]/);
  const { name, email } = commit.author;
  const hasRegistry = projectSettings(project).container_registry_access_level !== 'disabled';
  const values: Record<string, string | undefined> = {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_SERVER_URL: baseUrl,
    CI_SERVER_HOST: url.hostname,
    CI_SERVER_PORT: url.port || DEFAULT_PORTS[url.protocol],
    CI_SERVER_PROTOCOL: url.protocol.replace(':', ''),
    CI_SERVER_FQDN: url.host,
    CI_SERVER_SHELL_SSH_HOST: url.hostname,
    CI_SERVER_SHELL_SSH_PORT: '22',
    CI_SERVER_NAME: 'GitLab',
    CI_SERVER_VERSION: facts.apiVersion,
    CI_SERVER_VERSION_MAJOR: major,
    CI_SERVER_VERSION_MINOR: minor,
    CI_SERVER_VERSION_PATCH: patch,
    CI_SERVER_REVISION: facts.revision,
    CI_API_V4_URL: `${baseUrl}/api/v4`,
    CI_REGISTRY: hasRegistry ? url.host : undefined,
    CI_REGISTRY_IMAGE: hasRegistry ? `${url.host}/${project.fullPath.toLowerCase()}` : undefined,
    ...proxyVariables(facts),
    GITLAB_FEATURES: '',
    CI_PROJECT_ID: String(project.id),
    CI_PROJECT_NAME: project.path,
    CI_PROJECT_TITLE: project.name,
    CI_PROJECT_DESCRIPTION: project.description ?? '',
    CI_PROJECT_PATH: project.fullPath,
    CI_PROJECT_PATH_SLUG: slugOf(project.fullPath),
    CI_PROJECT_NAMESPACE: project.namespace_full_path,
    CI_PROJECT_NAMESPACE_ID: String(project.namespace_id),
    CI_PROJECT_NAMESPACE_SLUG: slugOf(project.namespace_full_path),
    CI_PROJECT_ROOT_NAMESPACE: project.namespace_full_path.split('/')[0],
    CI_PROJECT_URL: `${baseUrl}/${project.fullPath}`,
    CI_PROJECT_VISIBILITY: visibilityName(project.visibility),
    CI_DEFAULT_BRANCH: project.default_branch ?? '',
    CI_DEFAULT_BRANCH_SLUG: slugOf(project.default_branch ?? ''),
    CI_CONFIG_PATH: facts.configPath,
    CI_PIPELINE_SOURCE: facts.source,
    CI_PIPELINE_CREATED_AT: facts.createdAt.toISOString(),
    CI_PIPELINE_SCHEDULE_DESCRIPTION: facts.scheduleDescription,
    CI_PIPELINE_TRIGGERED: facts.triggerToken === undefined ? undefined : 'true',
    CI_TRIGGER_SHORT_TOKEN: facts.triggerToken?.replace(/^glptt-/, '').slice(0, 4),
    CI_UPSTREAM_PIPELINE_ID: facts.upstream && String(facts.upstream.pipeline_id),
    CI_UPSTREAM_PROJECT_ID: facts.upstream && String(facts.upstream.project_id),
    CI_UPSTREAM_JOB_ID: facts.upstream && String(facts.upstream.job_id),
    CI_DEPLOY_FREEZE: facts.frozen ? 'true' : undefined,
    CI_COMMIT_SHA: commit.oid,
    CI_COMMIT_SHORT_SHA: commit.oid.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: facts.beforeSha,
    CI_COMMIT_REF_NAME: ref,
    CI_COMMIT_REF_SLUG: slugOf(ref),
    CI_COMMIT_BRANCH: kind === 'branch' ? ref : undefined,
    CI_COMMIT_TAG: kind === 'tag' ? ref : undefined,
    CI_COMMIT_TAG_MESSAGE: kind === 'tag' ? cut(facts.tagMessage ?? '') : undefined,
    CI_COMMIT_MESSAGE: cut(commit.message),
    CI_COMMIT_TITLE: titleOf(commit.message),
    CI_COMMIT_DESCRIPTION: bodyOf(commit.message),
    CI_COMMIT_REF_PROTECTED: String(facts.protected),
    CI_COMMIT_TIMESTAMP: commitDate(commit.author),
    CI_COMMIT_AUTHOR: `${name} <${email}>`,
    GITLAB_USER_ID: String(user.id),
    GITLAB_USER_EMAIL: user.email,
    GITLAB_USER_LOGIN: user.username,
    GITLAB_USER_NAME: user.name,
    CI_RELEASE_NAME: facts.release?.name,
  };
  return [
    ...Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }])),
    ...(facts.release?.description
      ? [
          {
            key: 'CI_RELEASE_DESCRIPTION',
            value: facts.release.description.slice(0, MAX_RELEASE_LENGTH),
            raw: true,
          },
        ]
      : []),
    ...facts.ofMergeRequests,
  ];
}
