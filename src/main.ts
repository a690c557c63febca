/** serve: opens the instance, loads and starts the app, and stops on signals. */
import { join } from 'node:path';
import type { App, AppOptions } from './app.ts';
import { type Opened, openInstance } from './instance.ts';
import type { Config } from './kernel/config.ts';
import { readOrCreateSecretFile, readSecretFile } from './platform/db/data-folder.ts';
import { createLog } from './platform/log.ts';
import { boundGarbage, tuneCollector } from './platform/machine/memory.ts';
import { randomText } from './platform/secret.ts';

type Ending = { reason: string; code: number };

type LoadCapabilities = () => Promise<AppOptions['capabilities']>;

/** Serves until a signal; resolves with the exit code. The bench and a journey mount other capabilities. */
export async function serve(
  config: Config,
  loadCapabilities: LoadCapabilities = async () => undefined,
): Promise<number> {
  tuneCollector();
  const log = createLog((text) => process.stdout.write(text));
  // Installed first: a signal during the start is obeyed when the start is done.
  const { promise: ended, resolve: end } = Promise.withResolvers<Ending>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => end({ reason: signal, code: 0 }));
  // The driver can throw outside any request when its connection breaks under load. An orderly end loses
  // nothing acknowledged; a driver in an unknown state could hang.
  process.on('uncaughtException', (error) => {
    log.error('fault outside any request', error);
    end({ reason: 'a fault outside any request', code: 1 });
  });
  // The database, another process, starts, and at first its files are made, while this one loads the app.
  const opened = await openInstance(config);
  let app: App | undefined;
  try {
    void opened.embedded?.exited.then(() => end({ reason: 'the embedded database ended', code: 1 }));
    const [{ createApp }, { isPasswordOfRoot, prepareInstance }, { forgetProcesses }, capabilities] =
      await Promise.all([
        import('./app.ts'),
        import('./domain/accounts/first-start-actions.ts'),
        import('./platform/db/processes.ts'),
        loadCapabilities(),
      ]);
    const { target, secretKey } = opened;
    app = createApp({
      ...(capabilities && { capabilities }),
      config,
      target,
      secretKey: secretKey.text,
      log,
    });
    await opened.migrate();
    // The data folder's lock excludes other processes: leases of the last process are released at once.
    if (opened.embedded) await forgetProcesses(app.services.database.background);
    const first = await prepareInstance(app.services, {
      rootPassword: async () =>
        config.rootPassword ?? readOrCreateSecretFile(config.data, ROOT_PASSWORD, newPassword),
      acceptKey: secretKey.accept,
    });
    const { services } = app;
    // To check a password takes a tenth of a second, in a thread.
    const describing = describeRootPassword(
      config,
      async (password) => first || isPasswordOfRoot(services, password),
    );
    // Waited for only then: an app that is still starting could not be stopped, and would never end.
    describing.catch(() => undefined);
    const address = await app.start();
    const aboutPassword = await describing;
    process.stdout.write(
      [
        `Ashlar serves ${config.url ?? address}${config.url && config.url !== address ? ` (listening on ${address})` : ''}`,
        `  data folder     ${config.data}`,
        ...(aboutPassword === undefined ? [] : [`  root's password ${aboutPassword}`]),
        '',
      ].join('\n'),
    );
    boundGarbage();
    const { reason, code } = await ended;
    process.stdout.write(`Ashlar stops: ${reason}\n`);
    if (code !== 0) await endAtOnce(opened, code);
    return code;
  } finally {
    await app?.stop();
    await opened.close();
  }
}

const ROOT_PASSWORD = 'root-password';
const newPassword = (): string => randomText(18);

/** The location of `root`'s password; undefined without a `root`. */
async function describeRootPassword(
  config: Config,
  isRight: (password: string) => Promise<boolean | undefined>,
): Promise<string | undefined> {
  const file = join(config.data, ROOT_PASSWORD);
  const known = config.rootPassword ?? (await readSecretFile(config.data, ROOT_PASSWORD));
  const right = await isRight(known ?? '');
  if (right === undefined) return undefined;
  const advice = '`ashlar user password root` sets another';
  if (known === undefined) return `was set before: ${advice}`;
  if (config.rootPassword !== undefined)
    return right
      ? 'as ASHLAR_ROOT_PASSWORD says'
      : `not as ASHLAR_ROOT_PASSWORD says, which counts at the first start only: ${advice}`;
  return right ? file : `no longer the one in ${file}: ${advice}`;
}

/**
 * Ends without waiting for requests: without the database, or with something in an unknown state, it might
 * wait for ever. Acknowledged writes are durable, and the next start finds them.
 */
async function endAtOnce(opened: Opened, code: number): Promise<never> {
  const deadline = setTimeout(() => process.exit(code), 5_000);
  await opened.close().catch(() => {});
  clearTimeout(deadline);
  process.exit(code);
}
