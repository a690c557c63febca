/** Badges as records, with the placeholders of their addresses replaced for a project. */
import { type AuthorizedProject, selectFirstProject } from '../../kernel/access/find.ts';
import { isProject, type ResourceParent } from '../../kernel/access/resource-parents.ts';
import type { Caller } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import type { Db } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import { findBranch, listRefs } from '../../platform/git/refs.ts';
import { projectRepository } from '../repositories/index.ts';
import type { BadgeRow } from './queries.ts';
import { placeholdersIn, renderAddress } from './rules.ts';
import type { BadgePreview, BadgeRecord } from './schema.ts';

type Addresses = Pick<BadgeRow, 'link_url' | 'image_url'>;
type Context = {
  db: Db;
  services: Needs<'repositories' | 'baseUrl'>;
  actor: Caller;
  subject: ResourceParent;
};

/** The project itself, or the first of the group's that the caller sees. */
const exampleProject = async ({ db, actor, subject }: Context): Promise<AuthorizedProject | undefined> =>
  isProject(subject) ? subject : selectFirstProject(db, actor, subject.id);

/** The newest commit of the default branch and the newest tag, where they are asked for. */
async function valuesInGit(
  { repositories }: Needs<'repositories'>,
  { id, row }: AuthorizedProject,
  names: ReadonlySet<string>,
): Promise<[string, string | undefined][]> {
  if (!names.has('commit_sha') && !names.has('latest_tag')) return [];
  try {
    const read = await repositories.read(projectRepository(id), row.repository_storage, async (git) => {
      const commit = names.has('commit_sha') ? await findBranch(git, row.default_branch ?? '') : undefined;
      const [tag] = names.has('latest_tag') ? await listRefs(git, 'tag', 'updated_desc') : [];
      return { commit_sha: commit?.oid, latest_tag: tag?.name };
    });
    return Object.entries(read ?? {});
  } catch (error) {
    // A repository that is busy, or too slow to be read, leaves its placeholders: no badge is refused for it.
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** The values of placeholders. Code has its own readers, who alone see what is in the repository. */
async function placeholderValues(
  context: Context,
  badges: readonly Addresses[],
): Promise<ReadonlyMap<string, string>> {
  const names = placeholdersIn(badges.flatMap(({ link_url, image_url }) => [link_url, image_url]));
  const project = names.size === 0 ? undefined : await exampleProject(context);
  if (!project) return new Map();
  const { row, fullPath } = project;
  const values: [string, string | null | undefined][] = [
    ['project_path', fullPath],
    ['project_title', row.name],
    ['project_name', row.path],
    ['project_id', String(project.id)],
    ['project_namespace', row.namespace_full_path],
    ['group_name', row.namespace_kind === 'group' ? row.namespace_full_path : undefined],
    ['gitlab_server', new URL(context.services.baseUrl()).host],
  ];
  if (project.may('read_code'))
    values.push(
      ['default_branch', row.default_branch],
      ...(await valuesInGit(context.services, project, names)),
    );
  return new Map(values.flatMap(([name, value]) => (value == null ? [] : [[name, value]])));
}

const preview = (
  { name, link_url, image_url }: Addresses & { name: string | null },
  values: ReadonlyMap<string, string>,
): BadgePreview => ({
  name,
  link_url,
  image_url,
  rendered_link_url: renderAddress(link_url, values),
  rendered_image_url: renderAddress(image_url, values),
});

const record = (row: BadgeRow, values: ReadonlyMap<string, string>): BadgeRecord => ({
  ...preview(row, values),
  id: row.id,
  kind: row.project_id === null ? 'group' : 'project',
});

export async function presentBadges(context: Context, rows: readonly BadgeRow[]): Promise<BadgeRecord[]> {
  const values = await placeholderValues(context, rows);
  return rows.map((row) => record(row, values));
}

export const presentBadge = async (context: Context, row: BadgeRow): Promise<BadgeRecord> =>
  record(row, await placeholderValues(context, [row]));

export const presentPreview = async (context: Context, badge: Addresses): Promise<BadgePreview> =>
  preview({ ...badge, name: null }, await placeholderValues(context, [badge]));
