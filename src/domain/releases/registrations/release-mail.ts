/** Releases in mails. Pure. */
import { createCatalog } from '../../../kernel/mail/texts.ts';
import type { MailContents } from '../../notifications/index.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

const texts = createCatalog({ en: english, de: german });

/** The contents of a mail about the release. */
export function releaseMail({
  id,
  name,
  tag,
  url,
}: {
  id: number;
  name: string;
  tag: string;
  url: string;
}): MailContents {
  const title = name === tag ? name : `${name} (${tag})`;
  return {
    target: { kind: 'release', key: id, url, title, headers: { 'Release-ID': String(id) }, texts },
    topic: ({ language }) => texts(language).say('topic', { name: title }),
    rows: ({ language }) => [{ label: texts(language).say('tag'), value: tag }],
  };
}
