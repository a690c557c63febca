/** Reads what payloads of merge requests show. */
import { reachProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { presentUserBasic, type Surroundings } from '../../../kernel/users/records.ts';
import { type FactChanges, goneIds, hookChanges, selectLabelParts } from '../../hooks/index.ts';
import { selectUsers } from '../approval-rules/queries.ts';
import { readCommits } from '../diffs/read-versions.ts';
import { findActing } from '../following/acting-queries.ts';
import { presentBasic } from '../records/merge-request-records.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { loadMergeRequestRelations } from '../records/relation-queries.ts';
import type { PayloadAction, PayloadSource } from './payload.ts';
import { selectReviewerStates } from './queries.ts';

export type PayloadServices = Needs<
  'config' | 'database' | 'settings' | 'repositories' | 'baseUrl' | 'registered'
>;

type Told = {
  user_id: number;
  action: PayloadAction;
  before?: string | undefined;
  systemAction?: string | undefined;
  changes?: FactChanges;
};

/** What the payload is made of; undefined where the user or the project is gone. */
export async function readPayload(
  services: PayloadServices,
  row: MergeRequestRow,
  { user_id, action, before, systemAction, changes = {} }: Told,
): Promise<{ around: Surroundings; shown: PayloadSource } | undefined> {
  const { database } = services;
  const acting = await findActing(services, row.project_id, user_id);
  if (!acting) return undefined;
  const { actor, project } = acting;
  const settings = await services.settings.read();
  const around = { baseUrl: services.baseUrl(), settings };
  const db = database.background;
  const gone = goneIds(changes);
  const [relations, reviewerStates, users, { labels, goneLabels }, [commit], source] = await Promise.all([
    loadMergeRequestRelations({ db, services, settings, actor }, [row], { single: true }),
    selectReviewerStates(db, row.id),
    selectUsers(db, [actor.id, ...gone.users]),
    selectLabelParts(db, { merge_request_id: row.id }, gone.labels),
    readCommits(services, project, row.head_sha === null ? [] : [row.head_sha]),
    row.source_project_id === null ? undefined : reachProject(database.points, row.source_project_id),
  ]);
  const record = presentBasic({ services, settings }, relations, row, {});
  const sender = users.get(actor.id);
  if (!record || !sender) return undefined;
  const isShown = source !== undefined && (source.id === project.id || source.row.visibility > 0);
  const known = new Map([...users].map(([id, user]) => [id, presentUserBasic(around, user)]));
  const { assignees, reviewers } = record;
  return {
    around,
    shown: {
      action,
      before,
      systemAction,
      row,
      record,
      headPipelineId: relations.headPipelines.get(row.id)?.id ?? null,
      isFirstContribution: relations.single?.isFirstContribution ?? false,
      reviewerStates: new Map(reviewerStates.map(({ user_id, state }) => [user_id, state])),
      labels,
      project: project.row,
      source: isShown ? source.row : undefined,
      commit,
      sender: presentUserBasic(around, sender),
      changes: hookChanges(changes, { labels, goneLabels, people: { assignees, reviewers }, users: known }),
    },
  };
}
