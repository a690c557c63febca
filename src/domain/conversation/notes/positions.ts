/** Positions in a diff, as sent and as stored. Pure. */

import { invalid } from '../../../platform/failure.ts';
import type { Noteable } from '../noteables/noteables.ts';
import type { NewNote, NotePosition } from './notes.ts';
import type { PositionInput } from './schema.ts';

type LineRange = NonNullable<PositionInput['line_range']>;

const lineEnd = ({
  line_code = null,
  type = null,
  old_line = null,
  new_line = null,
}: LineRange['start'] = {}) => ({
  line_code,
  type,
  old_line,
  new_line,
});

const rangeOf = ({ start, end }: LineRange) => ({ start: lineEnd(start), end: lineEnd(end) });

/** Whether the position has all that its type requires. */
export function isComplete({ position_type, new_path, old_path, ...place }: PositionInput): boolean {
  if (!new_path && !old_path) return false;
  if (position_type === 'text') return Boolean(place.new_line ?? place.old_line);
  const { width, height, x, y } = place;
  return position_type === 'file' || [width, height, x, y].every((pixels) => typeof pixels === 'number');
}

/** The position as notes store it: what its type does not have is left out, what it may have is null. */
export function storedPosition(position: PositionInput): NotePosition {
  const { base_sha, start_sha, head_sha, position_type, line_range } = position;
  const { new_path = null, old_path = null, new_line = null, old_line = null } = position;
  const { width = null, height = null, x = null, y = null } = position;
  return {
    base_sha,
    start_sha,
    head_sha,
    old_path,
    new_path,
    position_type,
    ...(position_type === 'text' && {
      old_line,
      new_line,
      line_range: line_range ? rangeOf(line_range) : null,
    }),
    ...(position_type === 'image' && { width, height, x, y }),
  };
}

/**
 * The position in a commit's diff as the note stores it, and the line for comments on the commit. 400 for another commit, and
 * for an incomplete position.
 */
export function diffPosition(
  noteable: Pick<Noteable, 'sha'>,
  sent: PositionInput,
): Required<Pick<NewNote, 'position' | 'line'>> {
  if (sent.head_sha !== noteable.sha) throw invalid({ commit_id: ['does not match the diff refs'] });
  if (!isComplete(sent)) throw invalid({ position: ['is incomplete'] });
  const position = storedPosition(sent);
  const { old_path, new_path, old_line = null, new_line = null } = position;
  const isText = sent.position_type === 'text';
  return {
    position,
    line: {
      path: new_path ?? old_path,
      line: new_line ?? old_line,
      line_type: isText ? (new_line === null ? 'old' : 'new') : null,
    },
  };
}
