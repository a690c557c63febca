/** The parts that payloads of hooks are made of (facts-merge-requests: 10.5). Pure. */
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { type ProjectRow, projectFullPath } from '../../../kernel/namespaces/rows.ts';
import { type Surroundings, type UserBasic, uploadUrl } from '../../../kernel/users/records.ts';
import { commitDate, titleOf } from '../../../platform/git/commit-texts.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { absoluteImages } from './absolute-images.ts';

/** `2013-12-03 17:23:34 UTC` */
export const hookTime = (time: Date): string => time.toISOString().replace(/^(.{10})T(.{8}).*$/, '$1 $2 UTC');
export const hookTimeOrNull = (time: Date | null): string | null => time && hookTime(time);

/** An address that is not public is nobody's business who reads payloads. */
export const hookEmail = ({ public_email }: Pick<UserBasic, 'public_email'>): string =>
  public_email || '[REDACTED]';

export const hookUser = (user: UserBasic) => ({
  id: user.id,
  name: user.name,
  username: user.username,
  avatar_url: user.avatar_url,
  email: hookEmail(user),
});

/**
 * There is no SSH door, and so no address of one. Typed models of payloads refuse a project without the field: it is empty.
 */
export const NO_SSH_URL = '';

export function hookProject(around: Surroundings, row: ProjectRow) {
  const path = projectFullPath(row);
  const url = `${around.baseUrl}/${path}`;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    web_url: url,
    avatar_url: uploadUrl(around, 'project', row.id, row.avatar) ?? null,
    git_ssh_url: NO_SSH_URL,
    git_http_url: `${url}.git`,
    namespace: row.namespace_name,
    visibility_level: row.visibility,
    path_with_namespace: path,
    default_branch: row.default_branch,
    ci_config_path: projectSettings(row).ci_config_path,
    homepage: url,
    url: `${url}.git`,
    ssh_url: NO_SSH_URL,
    http_url: `${url}.git`,
  };
}
export type HookProject = ReturnType<typeof hookProject>;

/** A text of the project, whose pictures a receiver can load. */
export const hookText = (around: Surroundings, row: ProjectRow, text: string | null): string | null =>
  text &&
  absoluteImages(text, { baseUrl: around.baseUrl, home: `${around.baseUrl}/${projectFullPath(row)}` });

export const hookRepository = ({ name, git_http_url, description, homepage }: HookProject) => ({
  name,
  url: git_http_url,
  description,
  homepage,
});

export type GroupPartRow = { id: number; name: string; path: string; full_path: string };

export const hookGroup = (row: GroupPartRow) => ({
  group_name: row.name,
  group_path: row.path,
  group_id: row.id,
  full_path: row.full_path,
});

export type LabelPartRow = {
  id: number;
  name: string;
  color: string;
  project_id: number | null;
  namespace_id: number | null;
  description: string | null;
  created_at: Date;
  updated_at: Date;
};

export const hookLabel = (row: LabelPartRow) => ({
  id: row.id,
  title: row.name,
  color: row.color,
  project_id: row.project_id,
  created_at: hookTime(row.created_at),
  updated_at: hookTime(row.updated_at),
  template: false,
  description: row.description,
  type: row.project_id === null ? 'GroupLabel' : 'ProjectLabel',
  group_id: row.namespace_id,
});

export const hookCommit = (projectUrl: string, { oid, message, author }: Commit) => ({
  id: oid,
  message,
  title: titleOf(message),
  timestamp: commitDate(author).replace('.000', ''),
  url: `${projectUrl}/-/commit/${oid}`,
  author: { name: author.name, email: author.email },
});
