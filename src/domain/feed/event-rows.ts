/** Activity events with their targets as they are now. */
import type { UserBasicRow } from '../../kernel/users/records.ts';
import type { Json } from '../../platform/db/rows.ts';

export type EventRow = {
  id: number;
  project_id: number;
  action: string;
  target_type: string | null;
  target_id: number | null;
  details: Json | null;
  created_at: Date;
  author: UserBasicRow;
  /** The target of the event, or of its note; null for one that is deleted, or has no title. */
  target: { iid: number | null; title: string } | null;
};

export const noteTypes = ['Note', 'DiscussionNote', 'DiffNote'] as const;

export const isOnNote = ({ target_type }: Pick<EventRow, 'target_type'>): boolean =>
  noteTypes.some((type) => type === target_type);
