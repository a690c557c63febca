/**
 * The discussion of a record: threads with their notes, each an anchor `#note_1`, as mails and to-dos name
 * it.
 */
import { setImmediate } from 'node:timers/promises';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Html, html, madeSafe } from '../../../platform/http/pages/html.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import type { DiscussionRecord, NoteRecord } from '../../conversation/index.ts';
import { avatar, pageNumber, pager, personLink, tag, timeOf } from './components.ts';
import { renderedMarkdown } from './rendered-markdown.ts';
import type { ViewContext } from './view-context.ts';

/** A change that is shown as notes of the program are. */
export type ShownEvent = Pick<NoteRecord, 'author' | 'body' | 'created_at'>;

type Standing = {
  project?: AuthorizedProject | undefined;
  /** The page is paged by another list: only the first threads are shown. */
  firstOnly?: boolean;
  /** Shown among the threads, by their times. */
  events?: readonly ShownEvent[];
};

/** Reads a page of the threads at their endpoint. */
type ReadThreads = (page: { page: number; per_page: number }) => Promise<Page<DiscussionRecord>>;

const PER_PAGE = 100;
/** Pages of the endpoint that one page here shows: a link to a note does not say on which page it is. */
const AT_ONCE = 3;

type Viewed = { at: string; view: Html };

/** Threads, the oldest first, and whether there are more: each is released once it is HTML. */
async function viewThreads(view: ViewContext, read: ReadThreads, place: Standing) {
  const { firstOnly } = place;
  const views: Viewed[] = [];
  const first = firstOnly ? 1 : (pageNumber(view) - 1) * AT_ONCE + 1;
  for (let page = first; page < first + AT_ONCE; page++) {
    const threads = await read({ page, per_page: PER_PAGE });
    for (const thread of threads.items)
      views.push({ at: beginOf(thread), view: await threadView(view, place, thread) });
    if (!threads.more) return { views, more: false };
  }
  return { views, more: true };
}

const beginOf = ({ notes }: DiscussionRecord): string => notes[0]?.created_at ?? '';

/** The events from the first thread of this page up to that of the next one. */
async function viewEvents(
  view: ViewContext,
  read: ReadThreads,
  place: Standing,
  { views, more }: { views: readonly Viewed[]; more: boolean },
): Promise<Viewed[]> {
  const { events = [] } = place;
  if (events.length === 0) return [];
  const page = pageNumber(view);
  const from = page === 1 ? '' : (views[0]?.at ?? '~');
  const next = more ? await read({ page: page * AT_ONCE * PER_PAGE + 1, per_page: 1 }) : undefined;
  const until = next?.items[0] ? beginOf(next.items[0]) : '~';
  const shown: Viewed[] = [];
  for (const event of events)
    if (event.created_at >= from && event.created_at < until)
      shown.push({
        at: event.created_at,
        view: await eventView(view, place, event, timeOf(event.created_at)),
      });
  return shown;
}

/**
 * Marks of additions and removals in a title, `{+ so +}` and `{- so -}`, as such; elements are left as they
 * are.
 */
const withChanges = (text: Html | undefined): Html | undefined =>
  text &&
  madeSafe(
    text.text.replace(/\{\+([^<]*?)\+\}/g, '<ins>$1</ins>').replace(/\{-([^<]*?)-\}/g, '<del>$1</del>'),
  );

const eventView = async (
  view: ViewContext,
  place: Standing,
  { author, body }: ShownEvent,
  when: Html,
  anchor?: string,
): Promise<Html> =>
  html`<div class="event"${anchor !== undefined && html` id="${anchor}"`}>${personLink(author)} ${withChanges(await renderedMarkdown(view, body, place))} ${when}</div>`;

async function noteView(view: ViewContext, place: Standing, note: NoteRecord): Promise<Html> {
  const anchor = `note_${note.id}`;
  const when = html`<a class="when" href="#${anchor}">${timeOf(note.created_at)}</a>`;
  if (note.system) return eventView(view, place, note, when, anchor);
  const edited = note.updated_at !== note.created_at;
  return html`<article class="note" id="${anchor}">
<header>${avatar(view, note.author.name, note.author.avatar_url)}${personLink(note.author)} ${when} ${edited && html`<span class="below">edited</span>`} ${note.internal && tag('Internal', 'closed')}</header>
${await renderedMarkdown(view, note.body, place)}
</article>`;
}

/** The events before the threads that began after them. */
function amongThreads(threads: readonly Viewed[], events: readonly Viewed[]): Viewed[] {
  const left = events.toSorted((one, two) => (one.at < two.at ? -1 : one.at > two.at ? 1 : 0));
  const all = threads.flatMap((thread) => {
    const later = left.findIndex(({ at }) => at >= thread.at);
    return [...left.splice(0, later < 0 ? left.length : later), thread];
  });
  return [...all, ...left];
}

async function threadView(view: ViewContext, place: Standing, thread: DiscussionRecord): Promise<Html> {
  const notes: Html[] = [];
  for (const note of thread.notes) {
    notes.push(await noteView(view, place, note));
    // Other requests run between two texts.
    await setImmediate();
  }
  if (thread.individual_note) return html`${notes}`;
  const resolvable = thread.notes.filter((note) => note.resolvable);
  const resolved = resolvable.length > 0 && resolvable.every((note) => note.resolved);
  return html`<section class="thread">${resolved && html`<p class="below">${tag('Resolved', 'closed')}</p>`}${notes}</section>`;
}

/** The threads on a noteable. */
export async function discussionsView(
  view: ViewContext,
  read: ReadThreads,
  place: Standing = {},
): Promise<Html> {
  const threads = await viewThreads(view, read, place);
  const events = await viewEvents(view, read, place, threads);
  const { more } = threads;
  const all = amongThreads(threads.views, events);
  return html`<h2>Activity</h2>
${all.length === 0 && html`<p class="none">Nothing has been said yet.</p>`}
${all.map((each) => each.view)}
${place.firstOnly ? more && html`<p class="none">Later threads are not shown here.</p>` : pager(view, { more })}`;
}
