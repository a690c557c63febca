/** The parts of a mail that the owner of its subject makes, and helpers for them. Pure. */
import type { Catalog } from '../../../kernel/mail/texts.ts';
import type { MailTexts } from './mail-texts.ts';

/** The subject of an event, as a mail shows it. */
export type MailTarget = {
  kind: string;
  /** Its part of mail ids: its id, or the SHA of a commit. */
  key: number | string;
  url: string;
  /** With the reference: `Title (#1)`. */
  title: string;
  confidential?: boolean;
  /** Headers, by the part of their names that follows `X-Ashlar-` and `X-GitLab-`. */
  headers: Readonly<Record<string, string>>;
  /** A sentence for each event, `replied` for a note that is a reply, and `open`, the label of the button. */
  texts: Catalog<string>;
};

export type Linked = { text: string; url: string };
export type Row = { label: string; value: string; url?: string };
export type MailList = { label: string; items: readonly Linked[]; rest: string | undefined };

export type MailContents = {
  target: MailTarget;
  /** The end of the mail's subject line, where it is not the title. */
  topic?(texts: MailTexts): string;
  rows?(texts: MailTexts): readonly Row[];
  list?(texts: MailTexts): MailList;
};

/** Names of users. */
export type PeopleChange = { from: readonly string[]; to: readonly string[] };

const names = (people: readonly string[], texts: MailTexts): string =>
  people.length === 0 ? texts.say('nobody') : people.join(', ');

/** The row of a change. */
export const changeRow = (label: string, { from, to }: PeopleChange, texts: MailTexts): Row => ({
  label,
  value: `${names(from, texts)} → ${names(to, texts)}`,
});

/** The row of these values; none without a value. */
export const valuesRow = (label: string, values: readonly string[]): Row[] =>
  values.length === 0 ? [] : [{ label, value: values.join(', ') }];

/** A date without a time, the same in every zone. */
export const dayIn = (texts: MailTexts, day: string): string =>
  new Intl.DateTimeFormat(texts.locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  }).format(new Date(`${day}T00:00:00Z`));

/** The row of a date such as `2027-01-31`; none without a date. */
export const dayRow = (label: string, day: string | null, texts: MailTexts): Row[] =>
  day === null ? [] : [{ label, value: dayIn(texts, day) }];
