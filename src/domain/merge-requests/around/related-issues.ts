/** What the texts of a merge request name: title, description, comments, and the messages of its commits. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { readShown } from '../../../platform/git/history/history.ts';
import { peelToCommit } from '../../../platform/git/refs.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import {
  type CrossReference,
  fullPathOf,
  type IssueReference,
  issueReferences,
  MAX_NAMING_LENGTH,
} from '../../conversation/index.ts';
import { readRepository } from '../../repositories/index.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { selectNamingComments, selectNewestCommits } from './issue-queries.ts';

type Reading = Needs<'database' | 'repositories' | 'baseUrl'>;

/** Issues that are looked up. */
const MAX_NAMED = 1_000;

/** The messages of the newest commits. */
export async function readMessages(
  services: Reading,
  project: AuthorizedProject,
  row: MergeRequestRow,
): Promise<string[]> {
  const shas = await selectNewestCommits(services.database.db, row);
  const messages = await readRepository(services, project, (git) =>
    readShown(
      shas,
      async (sha) => (await peelToCommit(git, sha))?.message.slice(0, MAX_NAMING_LENGTH),
      ({ length }) => length,
    ),
  );
  return messages ?? [];
}

/** The issues that the texts name which the reader of the project's merge requests reads; whether they exist is not checked. */
export async function namedIssues(
  services: Reading,
  project: AuthorizedProject,
  row: MergeRequestRow,
): Promise<CrossReference[]> {
  const internal = project.may('read_internal_notes');
  const [comments, messages] = await Promise.all([
    selectNamingComments(services.database.db, row, { internal, length: MAX_NAMING_LENGTH }),
    readMessages(services, project, row),
  ]);
  const texts = [row.title, row.description ?? '', ...comments, ...messages];
  const baseUrl = services.baseUrl();
  const found = await mapInTurns(texts, (text) => issueReferences(baseUrl, text));
  const crossReference = ({ path, iid }: IssueReference): CrossReference => ({
    key: '',
    sign: '#',
    path: path === undefined ? undefined : fullPathOf({ project, group: undefined }, path),
    home: project.id,
    iid,
  });
  const named = found.flat().map(crossReference);
  const each = new Map(named.map((reference) => [`${reference.path ?? ''}#${reference.iid}`, reference]));
  return [...each.values()].slice(0, MAX_NAMED);
}
