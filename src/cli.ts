/** The command line: ashlar serve | migrate | token create | user password | oauth rotate-key | backup | restore | verify | doctor | lab | openapi. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { describeProblem } from './commands/start-problem.ts';
import { nearestSetting, readConfig, SettingsError } from './kernel/config.ts';
import { packageFolder, version } from './package.ts';

type Command = { summary: string; usage: string; run(args: string[]): Promise<number> };

const settingsPage = join(packageFolder, 'docs', 'settings.md');
const besideServer = 'Works beside a running server: with the same ASHLAR_DATA, or the same DATABASE_URL.';

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const commands: Record<string, Command> = {
  serve: {
    summary: 'serve the platform until a signal',
    usage:
      'ashlar serve\n\n' +
      'Settings come from the environment, such as ASHLAR_PORT=8081 ASHLAR_DATA=/srv/ashlar ashlar serve:\n' +
      `see ${settingsPage}`,
    async run(args) {
      if (args.length > 0) throw new UsageError('serve', meantSetting(args));
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
    usage: `ashlar token create --user NAME [--name TEXT] [--scopes api,read_user] [--days 30]\n\n${besideServer}`,
    async run(args) {
      const { values, positionals } = parse('token', {
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
  user: {
    summary: "set a user's password; whoever is signed in with the old one is not any more",
    usage:
      'ashlar user password NAME [--generate]\n\n' +
      'Asks for the password, or reads it from standard input; --generate makes one and prints it.\n' +
      besideServer,
    async run(args) {
      const { values, positionals } = parse('user', {
        args,
        allowPositionals: true,
        options: { generate: { type: 'boolean', default: false } },
      });
      const [action, name, ...others] = positionals;
      if (action !== 'password' || name === undefined || others.length > 0) throw new UsageError('user');
      const { readNewPassword, setPasswordFromCommandLine } = await import('./commands/password.ts');
      const { randomText } = await import('./platform/secret.ts');
      const generated = values.generate ? randomText(18) : undefined;
      const state = await setPasswordFromCommandLine(
        readConfig(),
        name,
        async () => generated ?? readNewPassword(name),
      );
      if (generated !== undefined) print(generated);
      const standing = state === 'active' ? '' : `; the account stays ${state.replaceAll('_', ' ')}`;
      process.stderr.write(`${name} has a new password, and no session is left${standing}\n`);
      return 0;
    },
  },
  oauth: {
    summary: 'let another key sign identities, and print its id; the old one is published for a day',
    usage:
      'ashlar oauth rotate-key\n\n' +
      besideServer +
      '\nWith DATABASE_URL it needs the same ASHLAR_SECRET_KEY too.',
    async run(args) {
      if (args.join() !== 'rotate-key') throw new UsageError('oauth');
      const { rotateKeyFromCommandLine } = await import('./commands/rotate-key.ts');
      print(await rotateKeyFromCommandLine(readConfig()));
      return 0;
    },
  },
  backup: {
    summary: 'write all that the server keeps into one file, of one moment',
    usage:
      'ashlar backup FILE|FOLDER|- [--base EARLIER] [--recipient age1…]… [--keep N]\n\n' +
      'The file has the secret key: whoever reads it reads everything. --recipient encrypts it for a key of age.\n' +
      '--base leaves out what is as an earlier backup in the same folder has it; a restore needs both.\n' +
      'In a folder it is named by the time, and --keep removes all but the latest.\n' +
      besideServer,
    async run(args) {
      const { values, positionals } = parse('backup', {
        args,
        allowPositionals: true,
        options: {
          recipient: { type: 'string', multiple: true, default: [] },
          base: { type: 'string' },
          keep: { type: 'string' },
        },
      });
      const [target, ...others] = positionals;
      if (target === undefined || others.length > 0) throw new UsageError('backup');
      if (values.keep !== undefined && !/^[1-9]\d{0,4}$/.test(values.keep))
        throw new UsageError('backup', '--keep is a number of backups');
      const { giveWay } = await import('./platform/machine/priority.ts');
      giveWay('usual');
      const { backUp } = await import('./commands/backup/backup.ts');
      const { recipient: recipients, base } = values;
      const keep = values.keep === undefined ? undefined : Number(values.keep);
      // Writes wait for the cut, which must not take long.
      const order = { target, recipients, base, keep, onCut: () => giveWay('all') };
      const damage = await backUp(readConfig(), order, await progress());
      return damage.length === 0 ? 0 : 1;
    },
  },
  restore: {
    summary: 'fill an empty data folder, and an empty database, from a backup',
    usage:
      'ashlar restore FILE [--identity KEYFILE]\n\nIn ASHLAR_DATA, or DATABASE_URL, where nothing is yet.',
    async run(args) {
      const { file, identity } = backupFile('restore', args);
      const { restoreBackup } = await import('./commands/backup/restore.ts');
      const damage = await restoreBackup(readConfig(), file, { identity }, await progress()).catch(
        about(file),
      );
      return damage.length === 0 ? 0 : 1;
    },
  },
  verify: {
    summary: 'read a backup to its end, and say whether it is whole',
    usage: 'ashlar verify FILE [--identity KEYFILE]\n\nWrites nothing.',
    async run(args) {
      const { file, identity } = backupFile('verify', args);
      const { verifyBackup } = await import('./commands/backup/verify.ts');
      const { header, end } = await verifyBackup(file, { identity }, await progress()).catch(about(file));
      print(
        `${file} is whole: ${end.entries} entries, cut of ${header.created_at} by version ${header.version}`,
      );
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
  lab: {
    summary: 'an instance for tests, with a database that ends with it',
    usage:
      'ashlar lab [--port N] [--tier free|premium|ultimate] [--offering self_managed|hosted] [--name NAME] [--host ADDRESS] [--seed FILE]\n\n' +
      'Prints one line of JSON when it is ready: its address, and a token of root. It ends with its standard input, if that is a\n' +
      'pipe, or by a signal, and leaves nothing behind. POST /-/lab/reset takes it back to its beginning: see docs/lab.md.',
    async run(args) {
      const { values } = parse('lab', {
        args,
        options: {
          name: { type: 'string' },
          port: { type: 'string', default: '0' },
          host: { type: 'string', default: '127.0.0.1' },
          tier: { type: 'string' },
          offering: { type: 'string' },
          seed: { type: 'string' },
          // How the library `ashlar/lab` starts it.
          library: { type: 'boolean', default: false },
        },
      });
      const { host, port, library, seed: file, ...others } = values;
      const seed = file === undefined ? undefined : { text: readFileSync(file, 'utf8'), name: file };
      const { instanceOptions } = await import('./lab/control.ts');
      const { runLab } = await import('./lab/command.ts');
      return runLab({ ...instanceOptions({ ...others, port: Number(port), seed }), host, library });
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

/** Other commands refuse all arguments. */
const takesArguments = new Set(['serve', 'token', 'user', 'oauth', 'backup', 'restore', 'verify', 'lab']);

class UsageError extends Error {
  constructor(command: string, problem?: string) {
    const usage = commands[command]?.usage ?? 'ashlar --help';
    super(problem === undefined ? usage : `ashlar ${command}: ${problem}\n\n${usage}`);
  }
}

/** Parses arguments by Node's rules; a violation is printed above the usage. */
function parse<T extends ParseArgsConfig>(command: string, config: T) {
  try {
    return parseArgs(config);
  } catch (error) {
    // The second sentence is about arguments that begin with a dash, which no command here takes.
    const [problem] = (error instanceof Error ? error.message : String(error)).split('. ');
    throw new UsageError(command, problem);
  }
}

/** On standard error: standard output may be the backup. */
const progress = async () => {
  const { createProgress } = await import('./commands/backup/progress.ts');
  const { monotonic } = await import('./platform/clock.ts');
  return createProgress(process.stderr, monotonic);
};

/** Says which file is bad. */
const about =
  (file: string) =>
  async (error: unknown): Promise<never> => {
    const { BadBackup } = await import('./commands/backup/format.ts');
    throw error instanceof BadBackup ? new Error(`${file} cannot be restored: ${error.message}`) : error;
  };

function backupFile(command: string, args: string[]): { file: string; identity: string | undefined } {
  const { values, positionals } = parse(command, {
    args,
    allowPositionals: true,
    options: { identity: { type: 'string' } },
  });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new UsageError(command);
  return { file, identity: values.identity };
}

/** The setting to use instead of an argument of `serve`: settings come from the environment. */
function meantSetting([first = '', second = 'VALUE']: string[]): string {
  const [flag = '', value = second] = first.split(/=(.*)/s);
  const setting = flag.startsWith('-') ? nearestSetting(flag) : undefined;
  if (setting === undefined) return `takes no ${first}: settings come from the environment`;
  const shown = setting.secret || value.startsWith('-') ? '…' : value;
  return `takes no ${flag}: the variable ${setting.name} says it, as in ${setting.name}=${shown} ashlar serve`;
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
  if (!takesArguments.has(name) && rest.length > 0) throw new UsageError(name, `takes no ${rest[0]}`);
  return command.run(rest);
}

// The reader may close the pipe (`| head`): the command still runs to its end.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// Node ends where nothing is left to wait for: a command that has not ended then has failed.
process.exitCode = 1;
try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const text = describeProblem(error);
  process.stderr.write(error instanceof UsageError ? `${text}\n` : `ashlar: ${text}\n`);
  process.exitCode = error instanceof SettingsError || error instanceof UsageError ? 2 : 1;
}
