/** What runs of both directions have in common: their bounds, which branches they mirror, and failures in words. */
import type { Needs, Services } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure } from '../../../platform/failure.ts';
import { GitError } from '../../../platform/git/program/program.ts';
import type { Service } from '../../../platform/git/program/transport.ts';
import { BadAnswer } from '../../../platform/git/remotes/advertisement.ts';
import type { Remote } from '../../../platform/git/remotes/remotes.ts';
import { RefMoved } from '../../../platform/git/write.ts';
import { patternCompiler } from '../../../platform/patterns/pattern.ts';
import { rulesOf } from '../../hooks/index.ts';
import { pushDefaults } from '../../repositories/index.ts';
import { addressOf } from '../credentials.ts';
import type { MirrorRow } from '../queries.ts';
import { type Address, withoutSecrets } from '../remote/address.ts';
import { type Bounds, openRemote, RemoteFailure, usualBounds } from '../remote/connection.ts';
import type { BranchFilter, Outcome } from '../rules.ts';

export type RunServices = Pick<
  Services,
  'config' | 'database' | 'settings' | 'repositories' | 'outbound' | 'presence' | 'log' | 'secretKey' | 'wake'
>;

/** Of a run, where nothing else says so. */
const MAX_BYTES = 10_737_418_240;

/** A refusal that no other try will change. */
export class Refused extends Error {}

export const largestRun = (settings: ApplicationSettings): number =>
  pushDefaults(settings).largestPush ?? MAX_BYTES;

/** Opens an address by the rules of the instance. */
export const openAddress = (
  services: Needs<'outbound'>,
  settings: ApplicationSettings,
  address: Address,
  service: Service,
  signal: AbortSignal,
  changed: Partial<Bounds> = {},
): Promise<Remote> =>
  openRemote(address, service, {
    outbound: services.outbound,
    rules: rulesOf(settings, false),
    bounds: { ...usualBounds, bytes: largestRun(settings), ...changed },
    signal,
  });

export const openMirror = (
  services: RunServices,
  settings: ApplicationSettings,
  row: MirrorRow,
  service: Service,
  signal: AbortSignal,
  changed: Partial<Bounds> = {},
): Promise<Remote> =>
  openAddress(services, settings, addressOf(services.secretKey, row), service, signal, changed);

/** The branches that the mirror has. */
export async function branchFilter(
  { only_protected, branch_regex }: Pick<MirrorRow, 'only_protected' | 'branch_regex'>,
  isProtected: (branch: string) => boolean,
): Promise<BranchFilter> {
  if (branch_regex !== null) {
    const compiled = (await patternCompiler())(branch_regex);
    if ('problem' in compiled) throw new Refused(`The pattern for branches ${compiled.problem}.`);
    return compiled.test;
  }
  return only_protected ? isProtected : () => true;
}

const MAX_TEXT = 2_000;

/** Refs of which a failure tells, each on a line. */
export function listed(sentence: string, refs: readonly string[]): string {
  const shown = refs.slice(0, 20);
  const more = refs.length - shown.length;
  return [sentence, '', ...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

/** The failure in words that have no secret and no path in them; undefined for what is no fault of the mirror. */
function wordsOf(error: unknown): { text: string; transient: boolean } | undefined {
  if (error instanceof RemoteFailure) return { text: error.message, transient: error.transient };
  if (error instanceof BadAnswer) return { text: error.message, transient: true };
  if (error instanceof Refused) return { text: error.message, transient: false };
  if (error instanceof RefMoved)
    return { text: 'A branch or tag was changed at the same time.', transient: true };
  if (error instanceof Failure) return { text: error.message, transient: true };
  if (error instanceof GitError) return { text: error.stderr.trim() || 'git ended early.', transient: true };
  return undefined;
}

/** What came of a run; its text is shown to those who manage the mirror. */
export function failureOf(services: RunServices, row: MirrorRow, error: unknown): Outcome {
  const words = wordsOf(error);
  if (!words) services.log.error('a mirror was not updated', error, { mirror: row.id });
  const { text, transient } = words ?? { text: 'The server has a fault: see its log.', transient: true };
  const { credentials } = addressOf(services.secretKey, row);
  // Folders of repositories are nobody's business.
  const shown = [...services.repositories.storages.values()].reduce(
    (said, root) => said.replaceAll(root, '…'),
    withoutSecrets(text, credentials),
  );
  const plain = shown.replace(/[^\P{Cc}\n]/gu, ' ');
  return { failed: { text: plain.slice(0, MAX_TEXT).toWellFormed(), transient } };
}
