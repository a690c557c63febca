/** Awards as records. */
import { presentUserBasic } from '../../../kernel/users/records.ts';
import type { AwardWithUser } from '../noteables/award-actions.ts';
import type { Presenting } from '../notes/present.ts';
import type { AwardRecord } from '../notes/schema.ts';

const awardTypes = {
  issue_id: 'Issue',
  epic_id: 'Epic',
  merge_request_id: 'MergeRequest',
  snippet_id: 'Snippet',
  note_id: 'Note',
} as const;

export function presentAward(
  { services, settings }: Presenting,
  { user, ...award }: AwardWithUser,
): AwardRecord {
  const { issue_id, epic_id, merge_request_id, snippet_id, note_id } = award;
  const columns = { issue_id, epic_id, merge_request_id, snippet_id, note_id };
  const column = (['issue_id', 'epic_id', 'merge_request_id', 'snippet_id', 'note_id'] as const).find(
    (name) => columns[name] !== null,
  );
  return {
    id: award.id,
    name: award.name,
    user: presentUserBasic({ baseUrl: services.baseUrl(), settings }, user),
    created_at: award.created_at.toISOString(),
    updated_at: award.updated_at.toISOString(),
    awardable_id: columns[column ?? 'note_id'] ?? 0,
    awardable_type: awardTypes[column ?? 'note_id'],
    // The address of a custom emoji, which this program does not have.
    url: null,
  };
}
