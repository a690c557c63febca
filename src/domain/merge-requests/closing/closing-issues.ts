/** The issues that a merge request closes when it is merged (facts-merge-requests §2.3). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { usersByIds } from '../../conversation/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { findNamedIssues } from '../../work-items/index.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { closingReferences } from '../texts/closing-grammar.ts';
import type { FindClosing } from '../writing/closing-actions.ts';
import { readMessages } from './messages.ts';

type ClosingServices = Needs<'database' | 'baseUrl'>;

/** Finds what the texts and messages close, of what the actor sees: nothing where the target is not the default branch. */
export const closingFor =
  (
    { database, baseUrl }: ClosingServices,
    actor: Actor,
    target: AuthorizedProject,
    messages: readonly string[],
  ): FindClosing =>
  async (tx, { title, description, target_branch }) => {
    if (target_branch !== target.row.default_branch) return [];
    const named = closingReferences(baseUrl(), [title, description, ...messages]);
    const issues = await findNamedIssues(
      { db: tx, points: database.points },
      actor,
      { project: target, group: undefined },
      named,
    );
    return issues.flatMap(({ id }) => id ?? []);
  };

/** The same with the eyes of the author, after a push; nothing where the author may not open it any more. */
export async function closingForAuthor(
  services: ClosingServices,
  row: Pick<MergeRequestRow, 'project_id' | 'author_id'>,
  messages: readonly string[],
): Promise<FindClosing> {
  const { db, points } = services.database;
  const [person] = await usersByIds(db, [row.author_id]);
  const actor = person && toActor(person, { via: 'password' });
  const target =
    actor &&
    (await authorizeProject(points, actor, 'read_merge_requests', row.project_id).catch((error) => {
      if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
      throw error;
    }));
  return actor && target ? closingFor(services, actor, target, messages) : async () => [];
}

/** The messages of a merge request's commits. */
export async function readMessagesOf(
  { repositories }: Needs<'repositories'>,
  target: Pick<AuthorizedProject, 'id' | 'row'>,
  commits: readonly string[],
): Promise<string[]> {
  const read = (git: Parameters<typeof readMessages>[0]) => readMessages(git, commits);
  const { repository_storage } = target.row;
  return (await repositories.read(projectRepository(target.id), repository_storage, read)) ?? [];
}
