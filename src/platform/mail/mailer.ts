/** Sends one mail: to an SMTP server, or without one to a file that mail programs open. */
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { now } from '../clock.ts';
import { randomHex } from '../secret.ts';

export type Mail = {
  /** Names the mail in all that is sent of it, for as long as it is tried: letters, digits, dots and hyphens. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The language of the parts (RFC 3282). */
  language: string;
  /** In whose name it is sent, where that is not the site's. */
  from?: { name: string; address: string };
  /** Further headers, such as those of threads; none by default. */
  headers?: Readonly<Record<string, string>>;
};

export type Mailer = {
  /** Throws when the mail was not taken; sent again, it has the same Message-ID, and is the same file. */
  send(mail: Mail): Promise<void>;
};

export type MailerOptions = {
  smtpUrl: string | undefined;
  /** Where the files go without a server. */
  folder: string;
  /** The sender's address, and the part of each Message-ID after the @; asked for with each mail. */
  sender: () => { from: string; host: string };
};

const NAME = /^[\w.-]{1,200}$/;

/** The program waits no longer for a server that does not answer; the mail is tried again later. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };

/** Headers are broken at spaces only, and servers refuse lines of more than 998 characters (RFC 5322). */
const tooLong = /(\S{900})\S+/gu;

/**
 * The text without control characters, which could begin another header, without the marks that turn what is read around,
 * and without what mail programs would decode (RFC 2047): that could hold any of them.
 */
const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replaceAll('=?', '= ?')
    .replaceAll(tooLong, '$1')
    .trim();

const oneLineEach = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, oneLine(value)]));

/** The mail as the library takes it. Addresses are given as such, so that no list can be read into one. */
function toMessage(mail: Mail, options: MailerOptions) {
  if (!NAME.test(mail.id)) throw new Error(`not the name of a mail: ${JSON.stringify(mail.id)}`);
  if ([mail.to, mail.from?.address ?? ''].some((address) => /[\p{Cc}\s<>,;]/u.test(address)))
    throw new Error('not one mail address');
  const { from, host } = options.sender();
  return {
    messageId: `<${mail.id}@${host}>`,
    date: now(),
    from: mail.from
      ? { name: oneLine(mail.from.name), address: mail.from.address }
      : { name: 'Ashlar', address: from },
    to: { name: '', address: mail.to },
    subject: oneLine(mail.subject),
    text: mail.text,
    html: mail.html,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'Content-Language': mail.language,
      ...oneLineEach(mail.headers),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** What is made with the first mail: until then its library is not loaded, and no start waits for it. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Milliseconds for which a server that did not answer is left alone: whoever sends has other work than to wait for it. */
const PAUSE_MS = 30_000;

const isSilence = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ETIMEDOUT';

function smtpMailer(url: string, options: MailerOptions): Mailer {
  const transport = once(async () => (await import('nodemailer')).createTransport({ url, ...timeouts }));
  let silentUntil = 0;
  return {
    async send(mail) {
      if (performance.now() < silentUntil) throw new Error('the mail server did not answer a moment ago');
      try {
        await (await transport()).sendMail(toMessage(mail, options));
      } catch (error) {
        if (isSilence(error)) silentUntil = performance.now() + PAUSE_MS;
        throw error;
      }
    },
  };
}

/** All or nothing of the file is there, whenever the process ends; its secrets are the owner's to read. */
async function writeWhole(folder: string, name: string, bytes: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `.${name}.${randomHex(8)}`);
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
    await handle.close();
    await rename(temporary, join(folder, name));
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

function fileMailer(options: MailerOptions): Mailer {
  const transport = once(async () =>
    (await import('nodemailer')).createTransport({ streamTransport: true, buffer: true, newline: 'windows' }),
  );
  return {
    async send(mail) {
      const { message } = await (await transport()).sendMail(toMessage(mail, options));
      if (!Buffer.isBuffer(message)) throw new Error('the mail was not composed in memory');
      await writeWhole(options.folder, `${mail.id}.eml`, message);
    },
  };
}

/** What sends mails as the settings say. Nothing is connected before a mail is sent. */
export const createMailer = (options: MailerOptions): Mailer =>
  options.smtpUrl === undefined ? fileMailer(options) : smtpMailer(options.smtpUrl, options);
