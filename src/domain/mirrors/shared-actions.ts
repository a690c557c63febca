/** What changes of mirrors of both kinds have in common: who may, their addresses, and their audit events. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { auditedParent } from '../../kernel/access/resource-parents.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import type { Db } from '../../platform/db/database.ts';
import { forbidden, invalid } from '../../platform/failure.ts';
import { patternProblem } from '../../platform/patterns/pattern.ts';
import { rulesOf } from '../hooks/index.ts';
import { addressOf } from './credentials.ts';
import type { MirrorRow } from './queries.ts';
import { type Address, isCredential, parseAddress } from './remote/address.ts';
import type { SetPullMirror } from './schema.ts';

export type MirrorContext = {
  services: Needs<'config' | 'database' | 'secretKey'>;
  settings: ApplicationSettings;
  actor: Actor;
  subject: AuthorizedProject;
};

/** 403 where only administrators set up mirrors. */
export function requireAvailable({ mirror_available }: ApplicationSettings, actor: Actor): void {
  if (!mirror_available && !actor.admin) throw forbidden();
}

export const audit = (
  tx: Db,
  { actor, subject }: Pick<MirrorContext, 'actor' | 'subject'>,
  event: string,
  { id, url }: Pick<MirrorRow, 'id' | 'url'>,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event,
      details: { target_id: id, target_type: 'Mirror', target_details: url },
    },
  });

/** The address; 400 with what is wrong with it under this name. */
export function requireAddress(settings: ApplicationSettings, written: string, property: string): Address {
  const parsed = parseAddress(written, rulesOf(settings, false));
  if ('problem' in parsed) throw invalid({ [property]: [parsed.problem] });
  return parsed;
}

export async function requirePattern(pattern: string | null | undefined): Promise<void> {
  if (!pattern) return;
  const problem = await patternProblem(pattern);
  if (problem !== undefined) throw invalid({ mirror_branch_regex: [problem] });
}

const isMasked = ({ credentials }: Address): boolean => /^\**$/.test(credentials?.user ?? 'x');

/**
 * The address after a change. What opens one server is not told to another: a new address has no name and password of the old
 * one. A masked one, as records show it, changes nothing.
 */
export function addressAfter(
  { services, settings }: MirrorContext,
  row: MirrorRow | undefined,
  { url, auth_user, auth_password }: Pick<SetPullMirror, 'url' | 'auth_user' | 'auth_password'>,
  property: string,
): Address | undefined {
  const before = row && addressOf(services.secretKey, row);
  const given = url === undefined ? undefined : requireAddress(settings, url, property);
  const named = given && isMasked(given) ? { url: given.url, credentials: undefined } : given;
  const kept = named === undefined || named.url === before?.url ? before : undefined;
  const base = named?.credentials || !kept ? named : kept;
  if (!base || (auth_user === undefined && auth_password === undefined)) return base;
  const credentials = {
    user: auth_user ?? base.credentials?.user ?? '',
    password: auth_password ?? base.credentials?.password ?? '',
  };
  if (
    credentials.user.includes(':') ||
    !isCredential(credentials.user) ||
    !isCredential(credentials.password)
  )
    throw invalid({ [property]: ['has a name or password that cannot be sent'] });
  return {
    url: base.url,
    credentials: credentials.user + credentials.password === '' ? undefined : credentials,
  };
}
