/** What the system's error codes mean to whoever starts the program: what is wrong, and what to do about it. */

type SystemError = Error & {
  code?: unknown;
  syscall?: string;
  address?: string;
  port?: number;
  hostname?: string;
  /** Of a name with several addresses, each was tried. */
  errors?: readonly unknown[];
};

const listening: Record<string, (place: string) => string> = {
  EADDRINUSE: (place) =>
    `${place} is in use: stop what listens there, or choose another port with ASHLAR_PORT`,
  EADDRNOTAVAIL: (place) => `${place} is no address of this machine: correct ASHLAR_HOST`,
  EACCES: (place) =>
    `${place} may not be listened on by this user: choose a port from 1024 on with ASHLAR_PORT`,
};

const connecting: Record<string, (place: string) => string> = {
  ECONNREFUSED: (place) => `no database listens at ${place}: start it, or correct DATABASE_URL`,
  ENOENT: (place) => `no database listens at ${place}: start it, or correct DATABASE_URL`,
  CONNECT_TIMEOUT: (place) =>
    `the database at ${place} does not answer: see that it runs, or correct DATABASE_URL`,
  ENOTFOUND: (place) => `the database's host ${place} is not known: correct DATABASE_URL`,
};

/** What a database says that is there and refuses. Not of the embedded one, whose names and password are our own. */
const refusing: Record<string, string> = {
  '28000': 'correct the user in DATABASE_URL',
  '28P01': 'correct the user or the password in DATABASE_URL',
  '3D000': 'make it, or correct DATABASE_URL',
};

const addressOf = ({ address, hostname, port }: SystemError): string => {
  const host = address ?? hostname ?? 'its address';
  return port === undefined ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`;
};

/** One line about why a command ended: in our words for what commonly hinders a start, else the error's own. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const system: SystemError = error;
  const [first] = system.errors ?? [];
  if (first !== undefined) return describeProblem(first);
  const advice = refusing[String(system.code)];
  if (advice !== undefined) return `${error.message}: ${advice}`;
  const known = system.syscall === 'listen' ? listening : connecting;
  const describe = isOfNetwork(system) ? known[String(system.code)] : undefined;
  return describe?.(addressOf(system)) ?? error.message;
}

/** ENOENT and EACCES are said of files too. */
const isOfNetwork = ({ syscall, code }: SystemError): boolean =>
  code === 'CONNECT_TIMEOUT' || ['listen', 'connect', 'getaddrinfo'].includes(syscall ?? '');
