/** Why a mail was not taken, for the one who set the mail server up. Pure. */

export type MailRefusal = {
  /** What is wrong, and what to look at. */
  words: string;
  /** What the server, or the system, said. */
  said: string;
};

/** As the library describes a failed mail. */
type TransportError = { code?: unknown; command?: unknown; response?: unknown; message?: unknown };

const MAX_LENGTH = 500;

const oneLine = (text: unknown): string =>
  String(text ?? '')
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
    .slice(0, MAX_LENGTH);

/** The first that fits the code and the message of the error. */
const causes: readonly [pattern: RegExp, words: string][] = [
  [
    /ECONNREFUSED/,
    'Nothing listens at that host and port: look at SMTP_URL, and whether the mail server runs.',
  ],
  [/EDNS|ENOTFOUND|EAI_AGAIN/, 'The host of SMTP_URL has no address: look at its name.'],
  [/EAUTH/, 'The mail server does not take the user or the password of SMTP_URL.'],
  [
    /certificate|self-signed|altnames/i,
    'The certificate of the mail server is not to be trusted: look at the host of SMTP_URL, which it must name.',
  ],
  [
    /ETLS|wrong version number|SSL routines/,
    'The mail server speaks TLS otherwise: smtps:// in SMTP_URL begins with it, smtp:// goes over to it.',
  ],
  [
    /ETIMEDOUT|did not answer|Greeting never received|ETIMEOUT/,
    'The mail server does not answer: look at host and port of SMTP_URL, and at firewalls on the way. It is left alone for half a minute.',
  ],
  [
    /EHOSTUNREACH|ENETUNREACH|ECONNRESET/,
    'The way to the mail server is closed: look at the network and its firewalls.',
  ],
  [/ENOSPC|EACCES|EROFS|EPERM/, 'The file cannot be written to the folder mail in the data folder.'],
];

/** The step of the conversation at which a server refuses (RFC 5321). */
const steps: Readonly<Record<string, string>> = {
  'MAIL FROM': 'The mail server refuses the sender: look at MAIL_FROM.',
  'RCPT TO':
    'The mail server refuses the recipient: look at your mail address, and at what it lets this site send.',
};

export function mailRefusal(error: unknown): MailRefusal {
  const { code, command, response, message } = (
    typeof error === 'object' && error !== null ? error : {}
  ) as TransportError;
  const text = `${String(code ?? '')} ${String(message ?? '')}`;
  const cause = causes.find(([pattern]) => pattern.test(text))?.[1];
  const refused = typeof response === 'string' && response !== '';
  return {
    words:
      cause ??
      (refused
        ? (steps[String(command)] ?? 'The mail server refuses the mail.')
        : 'The mail could not be sent.'),
    said: oneLine(refused ? response : message),
  };
}
