/** Effects of creating and changing a project on its repository. */
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import type { Needs } from '../../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../../kernel/settings/definitions.ts';
import { invalid } from '../../../../platform/failure.ts';
import { findBranch } from '../../../../platform/git/refs.ts';
import { setHead } from '../../../../platform/git/write.ts';
import { draftFirstCommit, projectRepository, writeProject } from '../../../repositories/index.ts';

/** Gives a new project its first commit: a README.md with its name and description. */
export async function writeReadme(
  services: Needs<'config' | 'database' | 'settings' | 'repositories'>,
  settings: ApplicationSettings,
  actor: Actor,
  project: AuthorizedProject,
): Promise<void> {
  const { name, description } = project.row;
  const text = description ? `# ${name}\n\n${description}\n` : `# ${name}\n`;
  await writeProject(services, settings, actor, project, (git) =>
    draftFirstCommit(settings, actor, project, git, { text, message: 'Initial commit' }),
  );
}

/**
 * Points the repository's HEAD to its new default branch, before the project's row names it; 400 without such a branch.
 * Until there is a branch, any may become it.
 */
export async function pointToDefaultBranch(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  branch: string,
): Promise<void> {
  const { id, row } = project;
  if (row.empty_repo) return;
  await services.repositories.write(projectRepository(id), branch, async (git) => {
    if (branch !== row.default_branch && !(await findBranch(git, branch))) {
      const sentence = `Could not set the default branch. Do you have a branch named '${branch}' in your repository?`;
      throw invalid({ base: [sentence] });
    }
    await setHead(git.folder, branch);
  });
}
