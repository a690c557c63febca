/** Description templates: the Markdown files of a folder of the default branch (facts: Creation). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { TreeEntry } from '../../../platform/git/parse.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { findEntry, readTree } from '../../../platform/git/trees.ts';
import { projectRepository } from '../store/containers.ts';

const folders = { issues: 'issue_templates', merge_requests: 'merge_request_templates' } as const;
export type TemplateType = keyof typeof folders;

/** Bytes of a template; a longer one is none, since no description may be longer. */
const MAX_TEMPLATE_LENGTH = 1_048_576;
const fileName = /^(.+)\.md$/;

type NamedEntry = { name: string; entry: TreeEntry };

/** The templates of the folder by name, in git's order. */
async function listEntries(git: GitFolder, type: TemplateType): Promise<NamedEntry[]> {
  const head = await findCommit(git, 'HEAD');
  const folder = head && (await findEntry(git, head.tree, ['.gitlab', folders[type]]));
  const entries = (folder && (await readTree(git, folder.oid))) ?? [];
  return entries.flatMap((entry) => {
    const [, name] = fileName.exec(entry.name) ?? [];
    return name !== undefined && entry.mode.startsWith('100') ? [{ name, entry }] : [];
  });
}

async function textOf(git: GitFolder, { oid }: TreeEntry): Promise<string | undefined> {
  const info = await git.info(oid);
  if (info?.type !== 'blob' || info.size > MAX_TEMPLATE_LENGTH) return undefined;
  return (await git.read(oid, info))?.content.toString('utf8').replaceAll('\0', '');
}

const reading = <T>(
  { repositories }: Needs<'repositories'>,
  { id, row }: AuthorizedProject,
  work: (git: GitFolder) => Promise<T>,
): Promise<T | undefined> => repositories.read(projectRepository(id), row.repository_storage, work);

export const templateNames = async (
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  type: TemplateType,
): Promise<string[]> => {
  const entries = await reading(services, project, (git) => listEntries(git, type));
  return (entries ?? []).map(({ name }) => name);
};

/** The text of the first template whose name is as wanted; undefined without one. */
export const readTemplate = (
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  type: TemplateType,
  isWanted: (name: string) => boolean,
): Promise<string | undefined> =>
  reading(services, project, async (git) => {
    const found = (await listEntries(git, type)).find(({ name }) => isWanted(name));
    return found && textOf(git, found.entry);
  });
