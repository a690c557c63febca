/** Sums the events of a batch by error, so that each error is written once. */
import type { DigestedEvent } from './digest-report.ts';

export type Occurrence = DigestedEvent & { project_id: number; received_at: Date };

/** The sums and latest values of one error's events. */
export type Addition = {
  events: number;
  first_seen_at: Date;
  last_seen_at: Date;
  /** Of the first and of the last event that names one. */
  first_release: string | null;
  last_release: string | null;
  /** Of the last event. */
  name: string;
  description: string;
  actor: string;
  platform: string;
  level: string;
  counts: readonly { hour: Date; events: number }[];
  people: readonly string[];
  tags: readonly { key: string; value: string; events: number; last_seen_at: Date }[];
};

const HOUR = 3_600_000;

/** Names an error before it has an id. */
export const errorKey = (row: { project_id: number; fingerprint: string }): string =>
  `${row.project_id} ${row.fingerprint}`;

export const eventKey = (row: { project_id: number; event_id: string }): string =>
  `${row.project_id} ${row.event_id}`;

/** Drops repeated events, of which the first is kept. */
export const distinctEvents = (occurrences: readonly Occurrence[]): Occurrence[] =>
  [...new Map(occurrences.toReversed().map((each) => [eventKey(each), each])).values()].reverse();

/** The addition of the events of one error. */
export function foldEvents(events: readonly [Occurrence, ...Occurrence[]]): Addition {
  const sorted = events.toSorted((left, right) => left.occurred_at.getTime() - right.occurred_at.getTime());
  const first = sorted[0] ?? events[0];
  const last = sorted.at(-1) ?? events[0];
  const { name, description, actor, platform, level } = last;
  const hours = new Map<number, number>();
  const tags = new Map<string, { key: string; value: string; events: number; last_seen_at: Date }>();
  for (const { occurred_at, tags: own } of sorted) {
    const hour = Math.floor(occurred_at.getTime() / HOUR) * HOUR;
    hours.set(hour, (hours.get(hour) ?? 0) + 1);
    for (const [key, value] of own) {
      const name = `${key}\n${value}`;
      const counted = tags.get(name) ?? { key, value, events: 0, last_seen_at: occurred_at };
      counted.events += 1;
      counted.last_seen_at = occurred_at;
      tags.set(name, counted);
    }
  }
  return {
    events: sorted.length,
    first_seen_at: first.occurred_at,
    last_seen_at: last.occurred_at,
    first_release: sorted.find(({ release }) => release !== null)?.release ?? null,
    last_release: sorted.findLast(({ release }) => release !== null)?.release ?? null,
    name,
    description,
    actor,
    platform,
    level,
    counts: [...hours].map(([hour, count]) => ({ hour: new Date(hour), events: count })),
    people: [...new Set(sorted.flatMap(({ person }) => person ?? []))],
    tags: [...tags.values()],
  };
}
