/** A mail server for tests: the part of RFC 5321 that a client needs. */
import { createServer, type Socket } from 'node:net';

export type Smtp = {
  url: string;
  /** The mails, as they were received. */
  received: string[];
  commands: string[];
  /** Refuses so many more mails temporarily. */
  refuse(mails: number): void;
  /** Takes so many milliseconds for the next mail. */
  dawdle(milliseconds: number): void;
  stop(): Promise<void>;
};

/** Listens on loopback, on a free port by default; refuses so many mails temporarily before it takes any. */
export function startSmtp(refusals: number, port = 0): Promise<Smtp> {
  const sockets = new Set<Socket>();
  const received: string[] = [];
  const commands: string[] = [];
  let refusing = refusals;
  let pause = 0;
  const talk = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    let data: string[] | undefined;
    const response = (line: string) => socket.write(`${line}\r\n`);
    const hear = (line: string): void => {
      if (data) {
        if (line !== '.') {
          // A line that begins with a dot is sent with one more (RFC 5321, 4.5.2).
          data.push(line.startsWith('.') ? line.slice(1) : line);
          return;
        }
        received.push(data.join('\r\n'));
        data = undefined;
        setTimeout(() => response('250 taken'), pause);
        pause = 0;
        return;
      }
      commands.push(line);
      if (/^EHLO/.test(line)) response('250 here');
      else if (/^MAIL/.test(line) && refusing > 0) {
        refusing -= 1;
        response('451 later');
      } else if (line === 'DATA') {
        data = [];
        response('354 go on');
      } else if (line === 'QUIT') socket.end('221 bye\r\n');
      else response('250 fine');
    };
    let rest = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const lines = (rest + bytes).split('\r\n');
      rest = lines.pop() ?? '';
      lines.forEach(hear);
    });
    response('220 here');
  };
  const server = createServer(talk);
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return new Promise((resolve) =>
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('the server does not listen');
      const refuse = (mails: number): void => {
        refusing += mails;
      };
      const dawdle = (milliseconds: number): void => {
        pause = milliseconds;
      };
      resolve({ url: `smtp://127.0.0.1:${address.port}`, received, commands, refuse, dawdle, stop });
    }),
  );
}
