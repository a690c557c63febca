/** Whether what is written can be read without an account: only that is shown to a service that looks for spam. */
import type { AuthorizedProject } from '../access/find.ts';
import { decide, type ProjectAbility, projectPolicy, type Standing } from '../access/policy.ts';
import { NO_ACCESS } from '../access/roles.ts';

/** Whether anybody, without an account, may do this in the project. Archived or not: it may be opened again. */
export const isReadByAnybody = (project: Pick<AuthorizedProject, 'row'>, ability: ProjectAbility): boolean =>
  decide(projectPolicy[ability], {
    signedIn: false,
    admin: false,
    auditor: false,
    external: false,
    role: NO_ACCESS,
    visibility: project.row.visibility,
    archived: false,
    // As in find.ts: only update and create write the column, from values of this type.
    features: project.row.settings as NonNullable<Standing['features']>,
  }) === 'allowed';
