/** Relations that projects and groups have alike, and what records of work have in common. */
import {
  type Attribute,
  attribute,
  boolean,
  choice,
  date,
  integer,
  type JsonObject,
  longText,
  type NewRow,
  number,
  type Relation,
  required,
  text,
  time,
} from './relation.ts';

/** A line without them has the time of its import. */
export const created: Attribute = required('created_at', time, { otherwise: 'now' });
export const times: readonly Attribute[] = [created, required('updated_at', time, { otherwise: 'now' })];

export const labels: Relation = {
  name: 'labels',
  table: 'labels',
  once: true,
  attributes: [
    required('title', text(255, /\S/), { column: 'name' }),
    attribute('description', text(512)),
    required('color', text(7, /^#[0-9a-fA-F]{6}$/), { otherwise: '#428bca' }),
    required('archived', boolean, { otherwise: false }),
    ...times,
  ],
};

export const milestones: Relation = {
  name: 'milestones',
  table: 'milestones',
  numbered: 'milestone',
  attributes: [
    required('iid', number),
    required('title', text(255, /\S/)),
    attribute('description', longText),
    required('state', choice(['active', 'closed'], 'active'), { otherwise: 'active' }),
    attribute('start_date', date),
    attribute('due_date', date),
    ...times,
  ],
};

const MAINTAINER = 40;

/** Memberships of people who are known here. Owners become Maintainers: who imports is the owner. */
export const membersAs = (name: 'project_members' | 'members'): Relation => ({
  name,
  table: 'members',
  once: true,
  attributes: [
    required('user', { of: 'member' }, { column: 'user_id' }),
    required('access_level', integer(5, 50)),
    attribute('expires_at', date),
    ...times,
  ],
  complete(row) {
    if (Number(row.access_level) > MAINTAINER) row.access_level = MAINTAINER;
  },
});

export const badgesAs = (name: 'project_badges' | 'badges'): Relation => ({
  name,
  table: 'badges',
  attributes: [
    attribute('name', text()),
    required('link_url', text(2_048, /^https?:\/\/\S+$/)),
    required('image_url', text(2_048, /^https?:\/\/\S+$/)),
    ...times,
  ],
});

/** By whom a comment was, for readers where nobody is known by that name. */
const authorOfNote: Attribute = attribute('author', { of: 'computed', as: 'author' });

const awardsOf = (parent: string): Relation => ({
  name: 'award_emoji',
  table: 'award_emoji',
  parent,
  once: true,
  attributes: [required('name', text(255, /^[\w+-]+$/)), required('user_id', { of: 'user' }), ...times],
});

/** System notes whose action the archive does not say. */
const UNKNOWN_ACTION = 'imported';

const notesOf = (parent: string): Relation => ({
  name: 'notes',
  table: 'notes',
  parent,
  owned: true,
  without: 'notes',
  attributes: [
    required('note', longText, { column: 'body' }),
    required('author_id', { of: 'author' }),
    authorOfNote,
    required('discussion_id', text(40, /^[0-9a-f]{40}$/), { otherwise: 'new' }),
    required('in_thread', boolean, { otherwise: false }),
    attribute('system', { of: 'computed', as: 'system' }),
    attribute('system_action', text(64, /^[a-z_]+$/)),
    required('internal', boolean, { otherwise: false }),
    attribute('resolved_at', time),
    attribute('resolved_by_id', { of: 'author' }),
    attribute('position', { of: 'position' }),
    attribute('line_code', text(255, /^[0-9a-f]{40}_\d+_\d+$/)),
    required('outdated', boolean, { otherwise: false }),
    attribute('last_edited_at', time),
    ...times,
  ],
  children: [awardsOf('note_id')],
  from(line) {
    const metadata = line.system_note_metadata as JsonObject | null | undefined;
    const action = line.system_action ?? metadata?.action ?? UNKNOWN_ACTION;
    return {
      ...line,
      internal: line.internal ?? line.confidential ?? false,
      in_thread: line.in_thread ?? (line.type === 'DiscussionNote' || line.type === 'DiffNote'),
      system_action: line.system === true ? action : null,
    };
  },
  complete(row) {
    if (row.resolved_at === null) row.resolved_by_id = null;
  },
});

const links = (parent: string): Relation => ({
  name: 'label_links',
  table: 'label_links',
  parent,
  once: true,
  attributes: [required('label', { of: 'label' }, { column: 'label_id' })],
});

const eventsOf = (parent: string, kind: 'label' | 'milestone' | 'state' | 'weight'): Relation => ({
  name: `resource_${kind}_events`,
  table: 'resource_events',
  parent,
  constants: { kind },
  attributes: [
    required('user_id', { of: 'author' }),
    ...(kind === 'state'
      ? [
          required('state', choice(['opened', 'closed', 'reopened', 'merged', 'locked']), {
            column: 'action',
          }),
        ]
      : []),
    ...(kind === 'label' || kind === 'milestone' ? [attribute('action', choice(['add', 'remove']))] : []),
    ...(kind === 'label' ? [attribute('label', { of: 'label' }, { column: 'label_id' })] : []),
    ...(kind === 'milestone'
      ? [attribute('milestone', { of: 'milestone' }, { column: 'milestone_id' })]
      : []),
    ...(kind === 'weight' ? [attribute('weight', integer())] : []),
    created,
  ],
});

export const timelogsOf = (parent: string): Relation => ({
  name: 'timelogs',
  table: 'timelogs',
  parent,
  attributes: [
    required('user_id', { of: 'author' }),
    required('time_spent', integer(-2_147_483_648), { column: 'seconds' }),
    attribute('summary', text(255)),
    required('spent_at', time, { otherwise: 'now' }),
    created,
  ],
});

/** What issues, merge requests and epics have. */
export const workChildren = (parent: 'issue_id' | 'merge_request_id' | 'epic_id'): Relation[] => [
  notesOf(parent),
  awardsOf(parent),
  links(parent),
  eventsOf(parent, 'label'),
  eventsOf(parent, 'milestone'),
  eventsOf(parent, 'state'),
  ...(parent === 'issue_id' ? [eventsOf(parent, 'weight')] : []),
];

export const commentChildren = (parent: 'snippet_id'): Relation[] => [notesOf(parent), awardsOf(parent)];

/** Gives records of work their counts, from what came with them. */
export function countReactions(row: NewRow, line: JsonObject): void {
  const awards = Array.isArray(line.award_emoji) ? (line.award_emoji as JsonObject[]) : [];
  row.upvotes = awards.filter(({ name }) => name === 'thumbsup').length;
  row.downvotes = awards.filter(({ name }) => name === 'thumbsdown').length;
}
