/** Tables: the tree of epics, mentions in notes, manual order, and changes by updates. */
import { describe, expect, test } from 'vitest';
import { INTERNAL, PRIVATE, PUBLIC } from '../../../../kernel/policy/roles.ts';
import { Failure } from '../../../../platform/failure.ts';
import type { EpicRow } from '../records/epic-rows.ts';
import { changedColumns } from './epic-changes.ts';
import { mayMention } from './epic-notes.ts';
import { firstPosition, positionsAfterMove } from './epic-positions.ts';
import { checkJoining, type Joining } from './tree-actions.ts';

describe('a child epic', () => {
  const joining: Joining = {
    parent: { id: 1, confidential: false },
    child: { id: 2, parent_id: null, confidential: false },
    lineage: [1],
    childLevels: 1,
  };
  const secret = { id: 1, confidential: true };
  test.each<[string, Partial<Joining>, RegExp | undefined]>([
    ['fits', {}, undefined],
    ['leaves another parent', { child: { id: 2, parent_id: 3, confidential: false } }, undefined],
    ['is not its own parent', { child: { id: 1, parent_id: null, confidential: false } }, /itself/],
    ['is there already', { child: { id: 2, parent_id: 1, confidential: false } }, /already assigned/],
    ['is not an ancestor', { lineage: [1, 5, 2] }, /already an ancestor/],
    ['is on the seventh level', { lineage: [1, 3, 4, 5, 6, 7] }, undefined],
    ['is not on the eighth', { lineage: [1, 3, 4, 5, 6, 7, 8] }, /maximum depth \(7\)/],
    ['brings no more levels than there are', { lineage: [1, 3, 4], childLevels: 5 }, /maximum depth/],
    ['is not for everybody below a confidential one', { parent: secret }, /confidential/],
    [
      'is confidential below it',
      { parent: secret, child: { id: 2, parent_id: null, confidential: true } },
      undefined,
    ],
  ])('%s', (_, change, expected) => {
    let text: unknown;
    try {
      checkJoining({ ...joining, ...change });
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 409) throw error;
      text = error.publicMessage;
    }
    if (expected) expect(text).toMatch(expected);
    else expect(text).toBeUndefined();
  });
});

describe('what is named under an epic of group 5', () => {
  const told = { groupId: 5, visibility: INTERNAL, ancestorIds: [1, 5], confidential: false };
  const named = { visibility: INTERNAL, ancestorIds: [1, 5, 6], confidential: false };
  test.each([
    ['of a group below, as open', {}, {}, true],
    ['of the same group', {}, { ancestorIds: [1, 5] }, true],
    ['of a group below, less open', {}, { visibility: PRIVATE }, false],
    ['of a group above', {}, { ancestorIds: [1] }, false],
    ['of elsewhere', {}, { ancestorIds: [9] }, false],
    ['of elsewhere, but public', {}, { ancestorIds: [9], visibility: PUBLIC }, true],
    ['confidential', {}, { confidential: true }, false],
    ['confidential, under a confidential one', { confidential: true }, { confidential: true }, true],
    [
      'confidential and elsewhere',
      { confidential: true },
      { confidential: true, ancestorIds: [9], visibility: PUBLIC },
      false,
    ],
  ])('%s', (_, first, second, expected) => {
    expect(mayMention({ ...told, ...first }, { ...named, ...second })).toBe(expected);
  });
});

describe('order by hand', () => {
  const siblings = [1, 2, 3].map((id, index) => ({ id, relative_position: index * 512 }));
  test.each<[string, number, object, number[]]>([
    ['behind the last', 1, { move_before_id: 3 }, [2, 3, 1]],
    ['in front of the first', 3, { move_after_id: 1 }, [3, 1, 2]],
    ['between', 3, { move_before_id: 1, move_after_id: 2 }, [1, 3, 2]],
    ['where it is', 2, { move_before_id: 1 }, [1, 2, 3]],
    ['nowhere', 2, {}, [1, 2, 3]],
    ['beside itself', 2, { move_after_id: 2 }, [1, 2, 3]],
  ])('%s', (_, id, move, expected) => {
    const places = new Map(siblings.map((each) => [each.id, each.relative_position]));
    for (const each of positionsAfterMove(siblings, id, move)) places.set(each.id, each.relative_position);
    const order = [...places].sort(([, a], [, b]) => a - b).map(([each]) => each);
    expect(order).toEqual(expected);
    expect(new Set(places.values()).size).toBe(3);
  });

  test('a neighbour that is not there is not found', () => {
    expect(() => positionsAfterMove(siblings, 1, { move_after_id: 9 })).toThrow('404');
  });

  test('the first place is in front of all', () => {
    expect([firstPosition(null), firstPosition(0), firstPosition(-512)]).toEqual([0, -512, -1024]);
  });
});

describe('an update', () => {
  const time = new Date('2026-01-01T00:00:00Z');
  const before: EpicRow = {
    id: 1,
    iid: 1,
    namespace_id: 1,
    author_id: 1,
    parent_id: null,
    title: 'a',
    description: null,
    state: 'opened',
    closed_at: null,
    closed_by_id: null,
    confidential: false,
    color: '#1068bf',
    start_date_is_fixed: false,
    start_date_fixed: null,
    due_date_is_fixed: false,
    due_date_fixed: null,
    relative_position: 0,
    user_notes_count: 0,
    upvotes: 0,
    downvotes: 0,
    last_edited_at: null,
    created_at: time,
    updated_at: time,
  };
  const closed = { ...before, state: 'closed', closed_at: time, closed_by_id: 7 };
  test.each([
    ['nothing', before, {}, {}],
    ['the same again', before, { title: 'a', confidential: false, color: '#1068bf', description: null }, {}],
    ['a title', before, { title: 'b' }, { title: 'b', last_edited_at: time }],
    ['a text that says null', before, { description: 'null' }, { description: 'null', last_edited_at: time }],
    ['a day', before, { due_date_fixed: '2026-02-01' }, { due_date_fixed: '2026-02-01' }],
    [
      'closing',
      before,
      { state_event: 'close' as const },
      { state: 'closed', closed_at: time, closed_by_id: 7 },
    ],
    ['closing twice', closed, { state_event: 'close' as const }, {}],
    [
      'reopening',
      closed,
      { state_event: 'reopen' as const },
      { state: 'opened', closed_at: null, closed_by_id: null },
    ],
  ])('%s', (_, epic, changes, expected) => {
    expect(changedColumns(epic, changes, { id: 7 }, time)).toEqual(expected);
  });
});
