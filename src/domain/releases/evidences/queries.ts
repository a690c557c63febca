/** Evidence of releases, and what it is made of. */
import type { Selectable } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { ReleaseEvidencesTable } from '../../../platform/db/rows.ts';
import type { ReleaseRow } from '../release-row.ts';
import type { EvidencedMilestone, EvidencedProject } from './rules.ts';

export type EvidenceRow = Pick<
  Selectable<ReleaseEvidencesTable>,
  'id' | 'release_id' | 'sha' | 'collected_at'
>;

export const selectEvidencedProject = (db: Db, id: number): Promise<EvidencedProject> =>
  db
    .selectFrom('projects')
    .select(['id', 'name', 'description', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

export const selectEvidencedMilestones = (db: Db, releaseId: number): Promise<EvidencedMilestone[]> =>
  db
    .selectFrom('release_milestones')
    .innerJoin('milestones', 'milestones.id', 'release_milestones.milestone_id')
    .select([
      'milestones.id',
      'milestones.title',
      'milestones.state',
      'milestones.due_date',
      'milestones.created_at',
    ])
    .where('release_milestones.release_id', '=', releaseId)
    .orderBy('milestones.id')
    .execute();

export async function countEvidences(tx: Db, releaseId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('release_evidences')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('release_id', '=', releaseId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The document, where the release of the project has this evidence. */
export async function selectDocument(
  db: Db,
  { projectId, tag, id }: { projectId: number; tag: string; id: number },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('release_evidences')
    .innerJoin('releases', 'releases.id', 'release_evidences.release_id')
    .select('release_evidences.document')
    .where('releases.project_id', '=', projectId)
    .where('releases.tag', '=', tag)
    .where('release_evidences.id', '=', id)
    .executeTakeFirst();
  return row?.document;
}

/** Releases whose time has come, locked; those that another process has are passed over. */
export const lockDue = (tx: Db, time: Date, limit: number): Promise<ReleaseRow[]> =>
  tx
    .selectFrom('releases')
    .selectAll()
    .where('evidence_due_at', '<=', time)
    .orderBy('evidence_due_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
