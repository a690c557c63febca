/** What git clients authenticate with, and what that allows (spec: OAuth 2.0 provider, 8). */
import { identifyProgram } from '../../../kernel/access/program-visitor.ts';
import { requireScope } from '../../../kernel/identity/authenticate.ts';
import type { Visitor } from '../../../kernel/identity/token-visitor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { forbidden } from '../../../platform/failure.ts';
import type { Service } from '../../../platform/git/program/transport.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';

export type Purpose = 'read' | 'write';

/** The purpose of each service. */
export const purposes = { 'upload-pack': 'read', 'receive-pack': 'write' } as const satisfies Record<
  Service,
  Purpose
>;

const scopesFor = {
  read: ['read_repository', 'write_repository', 'api'],
  write: ['write_repository', 'api'],
} as const satisfies Record<Purpose, readonly string[]>;

/** The request's visitor; 401 for a wrong credential, 429 for too many guesses. */
export const identify = (
  services: Needs<'database' | 'authenticator' | 'limiter'>,
  settings: ApplicationSettings,
  request: HttpRequest,
): Promise<Visitor> =>
  identifyProgram(services, settings, request, ['personal', 'impersonation', 'project', 'group', 'oauth']);

/** 403 for a credential that never allows this. */
export function requirePurpose({ caller, deployToken }: Visitor, purpose: Purpose): void {
  requireScope(caller, scopesFor[purpose]);
  const needed = purpose === 'read' ? 'read_repository' : 'write_repository';
  if (deployToken && !deployToken.scopes.includes(needed))
    throw forbidden(`the deploy token lacks the scope ${needed}`);
}
