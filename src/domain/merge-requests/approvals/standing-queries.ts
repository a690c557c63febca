/** Whether who approved a merge request still has the right to. */
import { type RawBuilder, sql } from 'kysely';
import { projectLevel } from '../../../kernel/access/membership-queries.ts';
import { DEVELOPER } from '../../../kernel/policy/roles.ts';

/** Whether the user of the approval `a` is an active one who changes the merge requests of its project; planned once, as in mayInProject(). */
export const approverMayChange = (today: string): RawBuilder<boolean> => sql<boolean>`exists (
  select from users u, merge_requests i join projects p on p.id = i.project_id join namespaces n on n.id = p.namespace_id
  where u.id = a.user_id and u.state = 'active' and u.deletion is null and i.id = a.merge_request_id
    and (u.admin or ${sql.raw(projectLevel('u.id', today))} >= ${sql.lit(DEVELOPER)}) offset 0)`;
