/** The command line: ashlar serve | migrate | token create | oauth rotate-key | doctor | openapi. */
import { parseArgs } from 'node:util';
import { describeProblem } from './commands/start-problem.ts';
import { readConfig, SettingsError } from './config.ts';
import { version } from './package.ts';

type Command = { summary: string; usage: string; run(args: string[]): Promise<number> };

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const commands: Record<string, Command> = {
  serve: {
    summary: 'serve the platform until a signal',
    usage: 'ashlar serve\n\nSettings come from the environment: see docs/settings.md.',
    async run() {
      const { serve } = await import('./main.ts');
      return serve(readConfig());
    },
  },
  migrate: {
    summary: 'bring the database up to date, and end',
    usage: 'ashlar migrate',
    async run() {
      const { openInstance } = await import('./instance.ts');
      const opened = await openInstance(readConfig());
      try {
        const done = await opened.migrate();
        print(done.length === 0 ? 'nothing to migrate' : `migrated: ${done.join(', ')}`);
      } finally {
        await opened.close();
      }
      return 0;
    },
  },
  token: {
    summary: 'create an access token for a user, and print it once',
    usage:
      'ashlar token create --user NAME [--name TEXT] [--scopes api,read_user] [--days 30]\n\n' +
      'Needs the data folder or DATABASE_URL for itself: stop the embedded server first, or use the API.',
    async run(args) {
      const { values, positionals } = parseArgs({
        args,
        allowPositionals: true,
        options: {
          user: { type: 'string' },
          name: { type: 'string', default: 'command line' },
          scopes: { type: 'string', default: 'api' },
          days: { type: 'string', default: '30' },
        },
      });
      if (positionals.join() !== 'create' || values.user === undefined) throw new UsageError('token');
      const { createTokenFromCommandLine } = await import('./commands/token.ts');
      const { user, name, scopes, days } = values;
      print(
        await createTokenFromCommandLine(readConfig(), {
          user,
          name,
          scopes: scopes.split(','),
          days: Number(days),
        }),
      );
      return 0;
    },
  },
  oauth: {
    summary: 'let another key sign identities, and print its id; the old one is published for a day',
    usage:
      'ashlar oauth rotate-key\n\n' +
      'Beside a running server: the same DATABASE_URL and ASHLAR_SECRET_KEY, and a data folder of its own.\n' +
      'With the embedded database, stop the server first.',
    async run(args) {
      if (args.join() !== 'rotate-key') throw new UsageError('oauth');
      const { rotateKeyFromCommandLine } = await import('./commands/rotate-key.ts');
      print(await rotateKeyFromCommandLine(readConfig()));
      return 0;
    },
  },
  doctor: {
    summary: 'look at the data folder, the database, git and the proxy, and say what to do',
    usage: 'ashlar doctor',
    async run() {
      const { examine } = await import('./commands/doctor.ts');
      return examine(readConfig(), print);
    },
  },
  openapi: {
    summary: 'print the OpenAPI description of the API',
    usage: 'ashlar openapi',
    async run() {
      const { openApiText } = await import('./commands/openapi.ts');
      print(openApiText());
      return 0;
    },
  },
};

/** The others refuse whatever follows their name. */
const takesArguments = new Set(['token', 'oauth']);

class UsageError extends Error {
  constructor(command: string) {
    super(commands[command]?.usage ?? 'ashlar --help');
  }
}

const overview = (): string =>
  [
    'usage: ashlar COMMAND',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(8)} ${summary}`),
    '',
    '`ashlar COMMAND --help` says more; `ashlar --version` says which one this is.',
  ].join('\n');

async function run(args: string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h') {
    print(overview());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-V') {
    print(version.own);
    return 0;
  }
  const command = commands[name];
  if (!command) {
    process.stderr.write(`ashlar: no command '${name}'\n\n${overview()}\n`);
    return 2;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    print(command.usage);
    return 0;
  }
  if (!takesArguments.has(name) && rest.length > 0) throw new UsageError(name);
  return command.run(rest);
}

// Whoever reads may have had enough (`| head`): what is under way goes on to its end, unread.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const text = describeProblem(error);
  process.stderr.write(error instanceof UsageError ? `${text}\n` : `ashlar: ${text}\n`);
  process.exitCode = error instanceof SettingsError || error instanceof UsageError ? 2 : 1;
}
