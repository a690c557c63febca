/** Who reads artifacts: those who read the jobs, and other jobs by their tokens. */
import { type Access, onProject } from '../../../kernel/access/access.ts';
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { jobTokenId, selectJobProject } from '../../repositories/index.ts';

/** The project as a caller has it; a job has its own project, and of others what everybody sees. 404 for the rest. */
export async function asJobSees(
  sql: Sql,
  caller: Caller,
  project: AuthorizedProject,
): Promise<AuthorizedProject> {
  const token = jobTokenId(caller);
  if (token === undefined || (await selectJobProject(sql, token)) === project.id) return project;
  return authorizeProject(sql, undefined, 'read_pipelines', project.id);
}

const reading = onProject('read_pipelines');

export const readingArtifacts: Access<AuthorizedProject, Caller> = {
  ...reading,
  find: async (request) => {
    const { subject, actor } = await reading.find(request);
    return { subject: await asJobSees(request.sql, actor, subject), actor };
  },
};
