/** Noteables in the payloads of facts. */
import type { Json } from '../../../platform/db/rows.ts';
import type { Noteable } from './noteables.ts';

const homeOf = ({ project, group }: Noteable): Record<string, Json> =>
  project ? { project_id: project.id } : { namespace_id: group?.id ?? null };

/** The noteable in the payload of a fact. */
export const noteablePayload = (noteable: Noteable): Record<string, Json> => ({
  ...homeOf(noteable),
  noteable_type: noteable.kind.type,
  noteable_id: noteable.id ?? null,
  ...(noteable.sha !== undefined && { commit_id: noteable.sha }),
});
