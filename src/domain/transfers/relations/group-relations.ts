/** The relations of a group, in the order in which they are read. */
import { badgesAs, labels, membersAs, milestones, times, workChildren } from './planning-relations.ts';
import {
  attribute,
  boolean,
  choice,
  date,
  integer,
  longText,
  number,
  type Relation,
  required,
  text,
  time,
} from './relation.ts';

const epics: Relation = {
  name: 'epics',
  table: 'epics',
  numbered: 'epic',
  attributes: [
    required('iid', number),
    required('title', text(255, /\S/)),
    attribute('description', longText),
    required('author_id', { of: 'author' }),
    attribute('author', { of: 'computed', as: 'author' }),
    attribute('parent', { of: 'epic' }, { column: 'parent_id' }),
    required('state', choice(['opened', 'closed']), { otherwise: 'opened' }),
    attribute('closed_at', time),
    attribute('closed_by_id', { of: 'author' }),
    required('confidential', boolean, { otherwise: false }),
    required('color', text(7, /^#[0-9a-fA-F]{6}$/), { otherwise: '#1068bf' }),
    required('start_date_is_fixed', boolean, { otherwise: false }),
    attribute('start_date_fixed', date),
    required('due_date_is_fixed', boolean, { otherwise: false }),
    attribute('due_date_fixed', date),
    required('relative_position', integer(-2_147_483_648), { otherwise: 0 }),
    attribute('last_edited_at', time),
    ...times,
  ],
  children: workChildren('epic_id'),
  complete(row) {
    if (row.state === 'opened') Object.assign(row, { closed_at: null, closed_by_id: null });
  },
};

export const groupRelations: readonly Relation[] = [
  labels,
  milestones,
  membersAs('members'),
  badgesAs('badges'),
  epics,
];
