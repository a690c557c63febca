/** An independent mail server, smtp-server, and a check that no further mail is on its way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { parseMail, type ReceivedMail } from '../support/mails.ts';

export type MailServer = {
  url: string;
  port: number;
  /** Received mails, the oldest first. */
  letters: ReceivedMail[];
  /** Stops it and its connections. */
  stop(): Promise<void>;
};

/** Listens on loopback, on a free port by default; receives each mail after so many milliseconds. */
export async function startMailServer({ port = 0, pause = 0 } = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onData(stream, session, response) {
      const recipients = session.envelope.rcptTo.map(({ address }) => address).join();
      const take = async (): Promise<void> => {
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(Buffer.from(chunk));
        const mail = parseMail(Buffer.concat(chunks).toString('utf8'));
        if (mail.to !== recipients) throw new Error(`a mail to ${mail.to} for ${recipients}`);
        mails.push(mail);
        await sleep(pause);
      };
      // A mail whose connection ends early is not received.
      take().then(
        () => response(),
        (error: unknown) => response(error instanceof Error ? error : new Error(String(error))),
      );
    },
  });
  // Errors of clients that are interrupted in the middle of a mail.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the mail server does not listen');
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    port: address.port,
    letters: mails,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Facts and jobs that wait, and jobs that were given up, as the program measures them. */
export async function waitingAt(url: string): Promise<Record<'outbox' | 'jobs' | 'dead_jobs', number>> {
  const text = await (await fetch(`${url}/-/metrics`)).text();
  const read = (kind: string): number => {
    const [, count] = new RegExp(`^waiting\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text) ?? [];
    if (count === undefined) throw new Error(`the program does not measure what waits: ${text}`);
    return Number(count);
  };
  return { outbox: read('outbox'), jobs: read('jobs'), dead_jobs: read('dead_jobs') };
}

/** Waits, for this many seconds at most, until all announced facts are processed: then no mail is on its way. */
export async function waitForMail(url: string, seconds = 60): Promise<void> {
  let waiting = await waitingAt(url);
  for (let waited = 0; waited < seconds * 20; waited++) {
    if (waiting.outbox === 0 && waiting.jobs === 0) break;
    await sleep(50);
    waiting = await waitingAt(url);
  }
  const done = { outbox: 0, jobs: 0, dead_jobs: 0 };
  if (JSON.stringify(waiting) !== JSON.stringify(done))
    throw new Error(`work is left after ${seconds} s: ${JSON.stringify(waiting)}`);
}
