/** Changes of merge requests that events tell of, where issues have notes: they read as these do. */
import type { Page } from '../../../platform/pagination/page.ts';
import { mergeRequestEvents } from '../../merge-requests/index.ts';
import { milestoneReference, type ResourceEventRecord, systemNote } from '../../work-items/index.ts';
import type { ShownEvent } from '../view/discussion.ts';
import type { ViewContext } from '../view/view-context.ts';

type Events = { [Kind in 'state' | 'label' | 'milestone']: readonly ResourceEventRecord<Kind>[] };
type Event = { user: ShownEvent['author']; created_at: string };

/** Those of one person at one time are one change. */
const changesOf = <E extends Event>(events: readonly E[]): E[][] => [
  ...Map.groupBy(events, ({ user, created_at }) => `${created_at} ${user.id}`).values(),
];

const noteOf = ([first]: readonly Event[], body: string): ShownEvent[] =>
  first ? [{ author: first.user, created_at: first.created_at, body }] : [];

function labelChange(events: Events['label'][number][]): ShownEvent[] {
  const labelsOf = (action: string) =>
    events.flatMap((event) => (event.action === action && event.label ? [event.label] : []));
  const [added, removed] = [labelsOf('add'), labelsOf('remove')];
  // Of labels that are gone by now nothing can be told.
  if (added.length + removed.length === 0) return [];
  return noteOf(events, systemNote({ what: 'labels', added, removed }).body);
}

function milestoneChange(events: Events['milestone'][number][]): ShownEvent[] {
  const milestone = events.find(({ action }) => action === 'add')?.milestone;
  const to = milestone
    ? { id: milestone.id, reference: milestoneReference({ project_id: null, ...milestone }) }
    : null;
  return noteOf(events, systemNote({ what: 'milestone', from: null, to }).body);
}

/** As notes would tell them. Pure. */
export const eventNotes = ({ state, label, milestone }: Events): ShownEvent[] => [
  ...state.flatMap((event) => noteOf([event], event.state)),
  ...changesOf(label).flatMap(labelChange),
  ...changesOf(milestone).flatMap(milestoneChange),
];

const PER_PAGE = 100;
const MAX_PAGES = 3;

async function firstOf<E>(
  read: (page: { page: number; per_page: number }) => Promise<Page<E>>,
): Promise<E[]> {
  const events: E[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { items, more } = await read({ page, per_page: PER_PAGE });
    events.push(...items);
    if (!more) break;
  }
  return events;
}

/** The first three hundred of each kind. */
export async function readMergeRequestEvents(
  view: ViewContext,
  one: { id: number; eventable_id: number },
): Promise<ShownEvent[]> {
  const [state, label, milestone] = await Promise.all([
    firstOf((page) => view.list(mergeRequestEvents.state, { ...one, ...page })),
    firstOf((page) => view.list(mergeRequestEvents.label, { ...one, ...page })),
    firstOf((page) => view.list(mergeRequestEvents.milestone, { ...one, ...page })),
  ]);
  return eventNotes({ state, label, milestone });
}
