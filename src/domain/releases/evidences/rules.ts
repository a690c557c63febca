/** Evidence: what a release was when it was released, as a document that nobody changes. Pure. */
import type { ReleaseRow } from '../release-row.ts';
import { releaseName } from '../rules.ts';

/** Of one release: its record has all of them. */
export const MAX_EVIDENCES = 100;

export type EvidencedProject = { id: number; name: string; description: string | null; created_at: Date };
export type EvidencedMilestone = {
  id: number;
  title: string;
  state: string;
  due_date: string | null;
  created_at: Date;
};

/** The text of the document, in the public API's shape. */
export function evidenceDocument(
  release: ReleaseRow,
  project: EvidencedProject,
  milestones: readonly EvidencedMilestone[],
): string {
  return JSON.stringify({
    release: {
      id: release.id,
      tag_name: release.tag,
      name: releaseName(release),
      project: {
        id: project.id,
        name: project.name,
        description: project.description,
        created_at: project.created_at.toISOString(),
      },
      created_at: release.created_at.toISOString(),
      description: release.description,
      milestones: milestones.map(({ id, title, state, due_date, created_at }) => ({
        id,
        title,
        state,
        due_date,
        created_at: created_at.toISOString(),
      })),
      report_artifacts: [],
    },
  });
}
