/** What all mails of events say. Each text is a whole sentence, so that languages choose their word order. */
import { createCatalog } from '../../../kernel/mail/texts.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

export const mailTexts = createCatalog({ en: english, de: german });

export type MailTexts = ReturnType<typeof mailTexts>;
