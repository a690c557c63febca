/** Who asks as a runner: its token is no credential of the API, and opens only what runners call. */
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { randomFraction } from '../../../platform/secret.ts';
import { type AuthenticRunner, type KnownManager, selectAuthentic } from './authenticate-queries.ts';
import { forgetManagers, writeManager } from './manager-actions.ts';
import { isChanged, isContactDue, managerOf, type RunnerInfo } from './rules.ts';

/** What a runner sends with each request: the token also in a header, which the body's is put before. */
export type PresentedRunner = {
  token?: string | undefined;
  system_id?: string | undefined;
  info?: RunnerInfo | undefined;
};

type Request = Pick<HttpRequest, 'headers' | 'address'>;

/** The name of the process that sends none. */
const LEGACY = '<legacy>';

/** The token of the body, else of the header; 400 without any. */
export function presentedToken({ token }: PresentedRunner, { headers }: Pick<Request, 'headers'>): string {
  const header = headers['runner-token'];
  const presented = token || (typeof header === 'string' ? header : undefined);
  if (presented) return presented;
  throw new Failure('bad_request', '400 Bad request - "token" not given', { error: 'token is missing' });
}

async function identify(services: Needs<'database'>, presented: PresentedRunner, request: Request) {
  const token = presentedToken(presented, request);
  const systemId = presented.system_id ?? LEGACY;
  const found = await selectAuthentic(services.database.points, token, systemId);
  if (!found) throw forbidden();
  return { ...found, token, systemId };
}

/** The runner of a token; 403 for any other. */
export const identifyRunner = async (
  services: Needs<'database'>,
  presented: PresentedRunner,
  request: Request,
): Promise<AuthenticRunner> => (await identify(services, presented, request)).runner;

export type Manager = Omit<KnownManager, 'ip_address'>;

/**
 * The runner of a token and the process that asks, of which is kept what it says of itself; 403 for an unknown token, 422 for a
 * runner that nobody owns any more. One statement, unless there is something to write: the process is new or another program,
 * or its last request was long ago, as far as the request is `heard` of.
 */
export async function authenticateRunner(
  services: Needs<'database'>,
  presented: PresentedRunner,
  request: Request,
  isHeard: (runner: AuthenticRunner) => boolean = () => true,
): Promise<{ runner: AuthenticRunner; manager: Manager; token: string }> {
  const { runner, manager: known, token, systemId } = await identify(services, presented, request);
  if (runner.runner_type === 'project_type' && runner.owner_project_id === null)
    throw new Failure('unprocessable', 'Runner is orphaned');
  const fields = managerOf(presented.info, known);
  const time = now();
  const isDue = isHeard(runner) && isContactDue(known?.contacted_at ?? null, time, randomFraction());
  if (known && !isDue && known.ip_address === request.address && !isChanged(known, fields))
    return { runner, manager: known, token };
  const contactedAt = isDue ? time : null;
  const { sql } = services.database;
  const written = { ...fields, runnerId: runner.id, systemId, ipAddress: request.address, contactedAt };
  const id = await writeManager(sql, written);
  if (id === undefined) throw forbidden();
  if (!known) await forgetManagers(sql, runner.id, id);
  return {
    runner,
    manager: { ...fields, id, contacted_at: contactedAt ?? known?.contacted_at ?? null },
    token,
  };
}
