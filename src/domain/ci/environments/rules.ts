/** Environments and deployments: names, slugs, tiers, addresses, states (facts-ci: 7.1, 7.2). Pure. */
import type { ValidationMessages } from '../../../platform/failure.ts';
import { fits } from '../../../platform/patterns/wildcard.ts';
import { digest } from '../../../platform/secret.ts';

export const autoStopSettings = ['always', 'with_action'] as const;
export const states = ['available', 'stopping', 'stopped'] as const;

export const MAX_NAME_LENGTH = 255;

export const NAME_PATTERN = '^[A-Za-z0-9_{$}. -](?:[A-Za-z0-9_/{$}. -]*[A-Za-z0-9_{$}. -])?$';
const isName = new RegExp(NAME_PATTERN);

const NAME_PROBLEM =
  "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'";

/** Messages for what no environment can be called. */
export function nameProblems(name: string): ValidationMessages {
  if (name.trim() === '') return { name: ["can't be blank"] };
  if (name.length > MAX_NAME_LENGTH)
    return { name: [`is too long (maximum is ${MAX_NAME_LENGTH} characters)`] };
  return isName.test(name) ? {} : { name: [NAME_PROBLEM] };
}

const unsafeSchemes = new Set(['javascript:', 'data:', 'vbscript:']);

/** Messages for an address that no link should have; one without a scheme may be taken for a host. */
export function addressProblems(url: string | null | undefined): ValidationMessages {
  if (!url) return {};
  // As browsers do, who read no control characters there.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what browsers leave out.
  const text = url.replaceAll(/[\u0000-\u0020]/g, '').toLowerCase();
  const scheme = [...unsafeSchemes].find((each) => text.startsWith(each));
  if (scheme !== undefined) return { external_url: [`${scheme.slice(0, -1)} scheme is not allowed`] };
  return /^[a-z][a-z0-9+.-]*:\/\//.test(text) && !URL.canParse(url)
    ? { external_url: ['URI is invalid'] }
    : {};
}

const MAX_SLUG_LENGTH = 24;
const SUFFIX_LENGTH = 6;

/** As hosts may be named; one that is not the name itself ends with what tells names apart. */
export function slugOfName(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
  const slug = (/^[a-z]/.test(plain) ? plain : `env-${plain}`).replaceAll(/-+/g, '-');
  if (slug === name && slug.length <= MAX_SLUG_LENGTH && !slug.endsWith('-')) return slug;
  const start = slug.slice(0, MAX_SLUG_LENGTH - SUFFIX_LENGTH - 1).replace(/-$/, '');
  const hash = BigInt(`0x${digest(name).toString('hex')}`).toString(36);
  return `${start}-${hash.slice(-SUFFIX_LENGTH)}`;
}

export const deploymentStatuses = [
  'created',
  'running',
  'success',
  'failed',
  'canceled',
  'skipped',
  'blocked',
] as const;

/** What programs say of deployments of their own. */
export const reportedStatuses = ['running', 'success', 'failed', 'canceled'] as const;
export type ReportedStatus = (typeof reportedStatuses)[number];

const events: Record<ReportedStatus, string> = {
  running: 'run',
  success: 'succeed',
  failed: 'drop',
  canceled: 'cancel',
};

export const isFinished = (status: string): boolean =>
  status === 'success' || status === 'failed' || status === 'canceled';

/** Messages for a change that there is not: only what has not begun begins, and nothing becomes what it is. */
export const statusProblems = (from: string, to: ReportedStatus): ValidationMessages =>
  from === to || (to === 'running' && from !== 'created' && from !== 'blocked')
    ? { status: [`cannot transition via "${events[to]}"`] }
    : {};

type DeploymentFilter = {
  order_by?: string | undefined;
  status?: string | undefined;
  updated_after?: string | undefined;
  updated_before?: string | undefined;
  finished_after?: string | undefined;
  finished_before?: string | undefined;
};

/** Why a list of deployments is refused, in the public API's words; undefined for one that an index serves. */
export function filterProblem(filter: DeploymentFilter): string | undefined {
  const { order_by, status } = filter;
  const updated = filter.updated_after !== undefined || filter.updated_before !== undefined;
  const finished = filter.finished_after !== undefined || filter.finished_before !== undefined;
  if (updated && finished) return '`updated_at` filter and `finished_at` filter can not be specified';
  if (updated && order_by !== 'updated_at') return '`updated_at` filter requires `updated_at` sort';
  if (finished && order_by !== 'finished_at') return '`finished_at` filter requires `finished_at` sort';
  if (finished && status !== 'success')
    return '`finished_at` filter must be combined with `success` status filter';
  return undefined;
}

/** Whether a job has the variables of a scope; one without an environment has those for all alone. */
export const isInScope = (environment: string | undefined, scope: string): boolean =>
  scope === '*' || (environment !== undefined && fits(environment, scope));
