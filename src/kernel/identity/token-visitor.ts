/** Who comes with a token in one of the forms of programs that are no clients of the API: git, package and image programs. */
import { Failure, forbidden } from '../../platform/failure.ts';
import { nameCaller } from '../../platform/fair-share.ts';
import type { Caller, TokenKind } from '../actor.ts';
import type { Needs } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import type { AuthenticationRequest } from './authenticate.ts';
import { type DeployToken, selectDeployToken } from './deploy-token-queries.ts';

/** A person or bot, a deploy token, or an anonymous caller. */
export type Visitor = { caller: Caller; deployToken?: DeployToken };

/** Clients of CI jobs give this name with a job's token, and with any other. */
export const JOB_USER = 'gitlab-ci-token';

export type PresentedToken = {
  /** Where the form has one; each accepts it with a token of a person, since programs ask for a name. */
  username?: string | undefined;
  /** Its digest, where a pass stands for it. */
  token: string | Buffer;
};

/**
 * The owner of the token, or the deploy token; undefined when it is neither, and may be a password. A token that was one and
 * ended, and a job's that is none, are 401.
 */
export async function visitorOf(
  services: Needs<'authenticator' | 'database'>,
  settings: ApplicationSettings,
  { username, token }: PresentedToken,
  kinds: readonly TokenKind[],
  { sudo, eventChain }: Pick<AuthenticationRequest, 'sudo' | 'eventChain'> = { sudo: undefined },
): Promise<Visitor | undefined> {
  const credential = { form: 'token', token, kinds } as const;
  const request = { credential, jobToken: true, safeMethod: true, csrfToken: undefined, sudo, eventChain };
  try {
    return { caller: await services.authenticator.authenticate(request, settings) };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'unauthenticated') throw error;
    if (error.details.error !== undefined || username === JOB_USER) throw error;
  }
  const deployToken = await selectDeployToken(services.database.points, { username, token });
  if (!deployToken) return undefined;
  if (sudo !== undefined) throw forbidden('Must be admin to use sudo');
  nameCaller(`deploy_token:${deployToken.id}`);
  return { caller: undefined, deployToken };
}
