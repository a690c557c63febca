/** Subject line and parts of each mail, before they become text or HTML. Pure. */
import { oneLine } from '../../../kernel/mail/mail-page.ts';
import type { Linked, MailList, Row } from '../events/mail-contents.ts';
import type { Words } from '../events/mail-words.ts';
import type { Body, MailInput } from './inputs.ts';
import { isFollowing } from './threads.ts';

export type Content = {
  /** The event in one sentence. */
  headline: string;
  /** The subject of the event. */
  title: Linked;
  /** Warnings, shown before the rest. */
  warnings: readonly string[];
  rows: readonly Row[];
  body: Body | undefined;
  list: MailList | undefined;
  button: { label: string; url: string };
};

/** `Place | Title (#1)`, with `Re: ` in all but the first mail of a thread. */
export const subjectOf = (input: MailInput, words: Words): string =>
  oneLine(
    `${isFollowing(input) ? 'Re: ' : ''}${input.place.name} | ${input.topic?.(words) ?? input.target.title}`,
  );

function headlineOf({ event, target, note, actor }: MailInput, words: Words): string {
  const { happened, replied } = target.words[words.language];
  const sentence = note?.reply ? replied : happened[event];
  if (!sentence) throw new Error(`no words for ${event} of a subject of the kind ${target.kind}`);
  return sentence(actor?.name ?? words.somebody);
}

export function contentOf(input: MailInput, words: Words): Content {
  const { target, note } = input;
  return {
    headline: headlineOf(input, words),
    title: { text: target.title, url: target.url },
    warnings: [
      ...(target.confidential ? [words.confidential] : []),
      ...(note?.internal ? [words.internal] : []),
    ],
    rows: input.rows?.(words) ?? [],
    body: input.body,
    list: input.list?.(words),
    button: note
      ? { label: words.openNote, url: note.url }
      : { label: target.words[words.language].open, url: target.url },
  };
}
