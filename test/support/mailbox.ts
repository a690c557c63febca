/** The mails that a test's Ashlar wrote to its data folder, with the parts that tests read. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestApp } from './app.ts';
import { until } from './waiting.ts';

export type Received = { id: string; from: string; subject: string; text: string; link: string };

const fold = /=\r?\n/g;

/** The first part of the mail, decoded. */
function textOf(message: string): string {
  const part = message.slice(message.indexOf('text/plain'));
  const [headers = '', ...rest] = part.split('\r\n\r\n');
  const boundary = /boundary="?([^"\r\n;]+)/.exec(message)?.[1] ?? '';
  const body = rest.join('\r\n\r\n').split(`\r\n--${boundary}`)[0] ?? '';
  if (/base64/i.test(headers)) return Buffer.from(body, 'base64').toString('utf8');
  if (!/quoted-printable/i.test(headers)) return body;
  const bytes = body
    .replaceAll(fold, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

const headerOf = (message: string, name: string): string =>
  new RegExp(`^${name}: *(.*)$`, 'im').exec(message)?.[1]?.trim() ?? '';

/** Mails to the address, in the order of their facts. */
export function mailsTo(app: TestApp, address: string): Received[] {
  const folder = join(app.app.services.config.data, 'mail');
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.eml'));
  } catch {
    return [];
  }
  return names
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter((message) => headerOf(message, 'To') === address)
    .map((message) => {
      const text = textOf(message);
      const link = /^https?:\/\/\S+$/m.exec(text)?.[0] ?? '';
      return {
        id: headerOf(message, 'Message-ID'),
        from: headerOf(message, 'From'),
        subject: headerOf(message, 'Subject'),
        text,
        link,
      };
    })
    .sort((left, right) => numberOf(left) - numberOf(right));
}

/** The number of its fact. */
const numberOf = ({ id }: Received): number => Number(/-(\d+)-\d+@/.exec(id)?.[1] ?? 0);

/** Waits until all announced facts are processed, jobs that make further ones included. */
export async function waitForMail(app: TestApp): Promise<void> {
  const { sql } = app.app.services.database;
  await until(async () => {
    app.app.services.wake();
    const [row] = await sql<{ waiting: number }[]>`
      select (select count(*) from outbox)::integer + (select count(*) from graphile_worker.jobs)::integer as waiting`;
    return row?.waiting === 0;
  }, 'the outbox did not empty');
}
