/** Collects evidence: when a release is made, when its time comes, and when somebody asks. */
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import { digest } from '../../../platform/secret.ts';
import { lockRelease } from '../queries.ts';
import type { ReleaseRow } from '../release-row.ts';
import { countEvidences, lockDue, selectEvidencedMilestones, selectEvidencedProject } from './queries.ts';
import { evidenceDocument, MAX_EVIDENCES } from './rules.ts';

/** In the transaction that made, changed or locked the release. */
export async function insertEvidence(tx: Db, release: ReleaseRow): Promise<void> {
  const project = await selectEvidencedProject(tx, release.project_id);
  const document = evidenceDocument(release, project, await selectEvidencedMilestones(tx, release.id));
  const sha = digest(document).toString('hex');
  const collected_at = now();
  await ahead(tx)
    .insertInto('release_evidences')
    .values({ release_id: release.id, sha, document, collected_at })
    .execute();
}

/** More evidence of a release; 404 without it, 400 where it has as much as it may have. */
export const collectEvidence = (db: Db, projectId: number, tag: string): Promise<ReleaseRow> =>
  inTransaction(db, async (tx) => {
    const release = found(await lockRelease(tx, projectId, tag));
    if ((await countEvidences(tx, release.id)) >= MAX_EVIDENCES)
      throw invalid({ base: [`Maximum number of evidences (${MAX_EVIDENCES}) exceeded`] });
    await insertEvidence(tx, release);
    return release;
  });

const AT_ONCE = 20;

/** Collects what is due, so many releases in one transaction. */
export async function collectDue(db: Db): Promise<void> {
  for (let count = AT_ONCE; count === AT_ONCE; )
    count = await inTransaction(db, async (tx) => {
      const due = await lockDue(tx, now(), AT_ONCE);
      for (const release of due) {
        await insertEvidence(tx, release);
        await ahead(tx)
          .updateTable('releases')
          .set({ evidence_due_at: null })
          .where('id', '=', release.id)
          .execute();
      }
      return due.length;
    });
}
