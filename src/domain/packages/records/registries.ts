/** The registries of a format: the packages of a project, and those of the projects below a group. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { GroupPackages, ProjectIds } from '../../../kernel/access/package-access.ts';
import { onlyIn } from './queries.ts';

/** Its path is that of its endpoints below `api/v4`, without a parameter. */
export type Registry = { path: string; projects: ProjectIds };

export const registryOfProject = (
  format: string,
  { subject }: { subject: Pick<AuthorizedProject, 'id'> },
): Registry => ({ path: `/projects/${subject.id}/packages/${format}`, projects: onlyIn(subject) });

export const registryOfGroup = (
  format: string,
  { subject }: { subject: Pick<GroupPackages, 'groupId' | 'projects'> },
): Registry => ({ path: `/groups/${subject.groupId}/-/packages/${format}`, projects: subject.projects });
