/** Subject line and parts of each mail, before they become text or HTML. Pure. */
import { oneLine } from '../../../kernel/mail/mail-page.ts';
import type { Linked, MailList, Row } from '../events/mail-contents.ts';
import type { MailTexts } from '../events/mail-texts.ts';
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
export const subjectOf = (input: MailInput, texts: MailTexts): string =>
  oneLine(
    `${isFollowing(input) ? 'Re: ' : ''}${input.place.name} | ${input.topic?.(texts) ?? input.target.title}`,
  );

function headlineOf({ event, target, note, actor }: MailInput, texts: MailTexts): string {
  const who = actor?.name ?? texts.say('somebody');
  return target.texts(texts.language).say(note?.reply ? 'replied' : event, { who });
}

export function contentOf(input: MailInput, texts: MailTexts): Content {
  const { target, note } = input;
  return {
    headline: headlineOf(input, texts),
    title: { text: target.title, url: target.url },
    warnings: [
      ...(target.confidential ? [texts.say('confidential')] : []),
      ...(note?.internal ? [texts.say('internal')] : []),
    ],
    rows: input.rows?.(texts) ?? [],
    body: input.body,
    list: input.list?.(texts),
    button: note
      ? { label: texts.say('openNote'), url: note.url }
      : { label: target.texts(texts.language).say('open'), url: target.url },
  };
}
