/**
 * A histogram of counts per hour as a picture in the page: no script, and no styles but those of the
 * stylesheet.
 */
import { type Html, html } from '../../../platform/http/pages/html.ts';

type Count = { hour: string; events: number };

const HOUR_MS = 3_600_000;
/** Units of the picture, which is stretched to its place. */
const HEIGHT = 100;
/** The height of the smallest count, so that one among thousands is seen. */
const MIN_BAR_HEIGHT = 2;

/** Width of an hour's bar: with a gap between two bars where each can be told from the next. */
const widthOf = (hours: number): number => (hours > 168 ? 1 : 0.85);

const counted = (events: number): string =>
  events === 1 ? '1 event' : `${events.toLocaleString('en')} events`;
const minuteOf = (time: number): string => new Date(time).toISOString().slice(0, 16).replace('T', ' ');

/** The last `hours` hours up to that of `until`: a bar for each hour that has events, and its text. */
export function histogram(counts: readonly Count[], until: Date, hours: number): Html {
  const last = Math.floor(until.getTime() / HOUR_MS);
  const first = last - hours + 1;
  const bars = counts.flatMap(({ hour, events }) => {
    const at = Math.floor(Date.parse(hour) / HOUR_MS);
    return at >= first && at <= last && events > 0 ? [{ at, events }] : [];
  });
  const most = bars.reduce((so, { events }) => Math.max(so, events), 0);
  const all = bars.reduce((sum, { events }) => sum + events, 0);
  const said =
    all === 0
      ? 'No events in this time'
      : `${counted(all)} in this time, ${counted(most)} in an hour at most`;
  return html`<figure class="plot">
<svg viewBox="0 0 ${hours} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${said}">
${bars.map(({ at, events }) => {
  const height = Math.max(MIN_BAR_HEIGHT, Math.round((events / most) * HEIGHT));
  return html`<rect x="${at - first}" y="${HEIGHT - height}" width="${widthOf(hours)}" height="${height}"><title>${minuteOf(at * HOUR_MS)} UTC: ${counted(events)}</title></rect>`;
})}
</svg>
<figcaption><span>${minuteOf(first * HOUR_MS)}</span><span>${said}</span><span>${minuteOf((last + 1) * HOUR_MS)} UTC</span></figcaption>
</figure>`;
}
