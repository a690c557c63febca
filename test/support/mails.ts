/** The mails that a test's mail server received, with the parts that tests read. */
import type { Smtp } from './smtp.ts';

export type ReceivedMail = {
  to: string;
  id: string;
  subject: string;
  /** By their names in lower case, unfolded. */
  headers: Map<string, string>;
  /** The part that is plain text. */
  text: string;
  html: string;
};

const words = /=\?utf-8\?([qb])\?([^?]*)\?=(?:\s+(?==\?))?/gi;
const quoted = (text: string): string =>
  Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');

/** RFC 2047. */
const decodeWords = (text: string): string =>
  text.replaceAll(words, (_, kind: string, encoded: string) =>
    kind.toLowerCase() === 'b'
      ? Buffer.from(encoded, 'base64').toString('utf8')
      : quoted(encoded.replaceAll('_', ' ')),
  );

function part(message: string, type: string): string {
  const start = message.indexOf(`Content-Type: ${type}`);
  if (start < 0) return '';
  const [headers = '', ...rest] = message.slice(start).split('\r\n\r\n');
  const body = rest.join('\r\n\r\n').split('\r\n--')[0] ?? '';
  if (/encoding: base64/i.test(headers)) return Buffer.from(body, 'base64').toString('utf8');
  return /quoted-printable/i.test(headers) ? quoted(body.replaceAll(/=\r?\n/g, '')) : body;
}

export function parseMail(message: string): ReceivedMail {
  const [head = ''] = message.split('\r\n\r\n', 1);
  const headers = new Map(
    head
      .replaceAll(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())];
      }),
  );
  const header = (name: string): string => headers.get(name) ?? '';
  return {
    to: header('to'),
    id: header('message-id'),
    subject: header('subject'),
    headers,
    text: part(message, 'text/plain'),
    html: part(message, 'text/html'),
  };
}

/** All received mails, the oldest first; they are removed. */
export const takeMails = ({ received }: Pick<Smtp, 'received'>): ReceivedMail[] =>
  received.splice(0).map(parseMail);
