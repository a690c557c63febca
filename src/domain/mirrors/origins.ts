/** Where new projects come from: the address of a repository, which is asked before the project is made. */
import type { Actor } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { badRequest, Failure, invalid } from '../../platform/failure.ts';
import { createShare } from '../../platform/fair-share.ts';
import { type Origin, requirePullChanges } from './pull-actions.ts';
import { RemoteFailure } from './remote/connection.ts';
import { openAddress } from './running/remote-run.ts';
import type { SetPullMirror } from './schema.ts';
import { requireAddress, requireAvailable } from './shared-actions.ts';

/** The fields of a project that say where it comes from. */
export type OriginFields = Omit<SetPullMirror, 'enabled' | 'url' | 'auth_user' | 'auth_password'> & {
  import_url?: string | null;
  mirror?: boolean | null;
};

/** A request waits for the other server so long. */
const PROBE_MS = 10_000;

const probes = createShare({
  of: 'looks at other servers',
  places: 4,
  perCaller: 2,
  waitingPerCaller: 10,
  waiting: 100,
  timeoutMs: 5_000,
});

/** The origin that the request names, if any; 400 where it cannot be read, 403 where nothing is imported by address. */
export async function findOrigin(
  services: Needs<'config' | 'outbound' | 'database'>,
  settings: ApplicationSettings,
  actor: Actor,
  fields: OriginFields,
): Promise<Origin | undefined> {
  const { import_url, mirror, ...options } = fields;
  const isMirror = mirror === true && services.config.tier !== 'free';
  if (!import_url) {
    if (isMirror) throw invalid({ import_url: ["can't be blank"] });
    return undefined;
  }
  if (!settings.import_sources.includes('git'))
    throw new Failure('forbidden', '403 Forbidden - import by URL is disabled');
  if (isMirror) requireAvailable(settings, actor);
  const changes = { ...options, enabled: isMirror };
  const address = requireAddress(settings, import_url, 'import_url');
  if (isMirror) await requirePullChanges({ settings, actor }, changes);
  if (changes.only_mirror_protected_branches && changes.mirror_branch_regex)
    throw invalid({ mirror_branch_regex: ['cannot be set with only_mirror_protected_branches'] });
  const signal = AbortSignal.timeout(PROBE_MS);
  try {
    await probes.run(() =>
      openAddress(services, settings, address, 'upload-pack', signal, { silenceMs: PROBE_MS }),
    );
  } catch (error) {
    if (error instanceof RemoteFailure && error.message.startsWith('is blocked'))
      throw invalid({ import_url: [error.message] });
    if (error instanceof RemoteFailure || signal.aborted)
      throw badRequest('Unable to access repository with the URL and credentials provided');
    throw error;
  }
  return {
    address,
    // Which branches and how is a matter of mirrors alone.
    changes: isMirror ? changes : { enabled: false },
  };
}
