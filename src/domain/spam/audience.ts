/** Whether anonymous callers can read a text: only such texts are sent to a spam service. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { decide, type ProjectAbility, projectPolicy, type Standing } from '../../kernel/policy/policy.ts';
import { NO_ACCESS } from '../../kernel/policy/roles.ts';

/** Whether anonymous callers have the ability in the project. Archived or not: it may be unarchived. */
export const isReadByAnybody = (project: Pick<AuthorizedProject, 'row'>, ability: ProjectAbility): boolean =>
  decide(projectPolicy[ability], {
    signedIn: false,
    admin: false,
    auditor: false,
    external: false,
    role: NO_ACCESS,
    visibility: project.row.visibility,
    archived: false,
    // As in find.ts, only update and create write the column.
    features: project.row.settings as NonNullable<Standing['features']>,
  }) === 'allowed';
