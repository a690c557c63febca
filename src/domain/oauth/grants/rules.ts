/** Decisions of the token endpoint, as pure functions of stored rows and presented values (RFC 6749, 7636, 8628). */
import { digest } from '../../../platform/secret.ts';
import { missing, OAuthError, type OAuthError as Refusal } from '../protocol/endpoint.ts';

const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/;
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** The S256 challenge of a verifier (spec: OAuth 2.0 provider, 3). */
export const challengeOf = (verifier: string): string => digest(verifier).toString('base64url');

export const isChallenge = (text: string): boolean => CHALLENGE.test(text);

/** The caller acts on `good`; `replayed` ends all that the grant gave. */
export type Verdict = 'good' | { refused: Refusal; replayed?: true };

const invalid = (code: 'invalid_grant' | 'expired_token' = 'invalid_grant'): Verdict => ({
  refused: new OAuthError(code),
});

const replayed = (): Verdict => ({ refused: new OAuthError('invalid_grant'), replayed: true });

/** Whether the verifier proves the challenge; a verifier without a challenge means that an attacker removed it. */
function judgeVerifier(challenge: string | null, verifier: string | undefined): Verdict {
  if (challenge === null) return verifier === undefined ? 'good' : invalid();
  if (verifier === undefined) return { refused: missing('code_verifier') };
  return VERIFIER.test(verifier) && challengeOf(verifier) === challenge ? 'good' : invalid();
}

type Grant = {
  application_id: number | null;
  revoked_at: Date | null;
  redirect_uri: string | null;
  code_challenge: string | null;
  /** Null for grants without a user. */
  user_state: string | null;
  user_id: number | null;
};

const isLive = (grant: Grant): boolean =>
  grant.revoked_at === null && (grant.user_id === null || grant.user_state === 'active');

export type CodeGrant = Grant & { code_expires_at: Date | null; code_used_at: Date | null };

/** A code: once, in time, by its client and with the redirect URI and the verifier of its request. */
export function judgeCode(
  grant: CodeGrant | undefined,
  presented: { clientId: number; redirectUri: string | undefined; verifier: string | undefined },
  time: Date,
): Verdict {
  if (!grant || grant.application_id !== presented.clientId) return invalid();
  if (grant.code_used_at !== null) return replayed();
  if (!isLive(grant) || grant.code_expires_at === null || grant.code_expires_at <= time) return invalid();
  if (presented.redirectUri === undefined) return { refused: missing('redirect_uri') };
  if (presented.redirectUri !== grant.redirect_uri) return invalid();
  return judgeVerifier(grant.code_challenge, presented.verifier);
}

export type RefreshGrant = Grant & { used_at: Date | null };

/** A refresh token: once, by its client; redirect URI and verifier may come again, and must then be right. */
export function judgeRefresh(
  grant: RefreshGrant | undefined,
  presented: {
    clientId: number | null;
    redirectUri: string | undefined;
    verifier: string | undefined;
    arrivedAt: Date;
  },
): Verdict {
  if (!grant || grant.application_id !== presented.clientId) return invalid();
  // One of several that were sent at once is no replay: its client has no tokens of the other yet.
  if (grant.used_at !== null) return grant.used_at < presented.arrivedAt ? replayed() : invalid();
  if (!isLive(grant)) return invalid();
  const { redirectUri, verifier } = presented;
  if (redirectUri !== undefined && grant.redirect_uri !== null && redirectUri !== grant.redirect_uri)
    return invalid();
  return verifier === undefined || grant.code_challenge === null
    ? 'good'
    : judgeVerifier(grant.code_challenge, verifier);
}

export type Device = {
  application_id: number;
  state: string;
  expires_at: Date;
  user_state: string | null;
};

/** A device code, after its interval was kept (spec: States and transitions, device authorization). */
export function judgeDevice(device: Device | undefined, clientId: number, time: Date): Verdict {
  if (!device || device.application_id !== clientId || device.state === 'redeemed') return invalid();
  if (device.expires_at <= time) return invalid('expired_token');
  if (device.state === 'denied') return { refused: new OAuthError('access_denied') };
  if (device.state === 'pending') return { refused: new OAuthError('authorization_pending') };
  return device.user_state === 'active' ? 'good' : { refused: new OAuthError('access_denied') };
}

/**
 * Scopes of a refreshed token: the requested ones, where the grant has them; undefined otherwise (RFC 6749,
 * section 6).
 */
export function narrowScopes(
  requested: string | undefined,
  granted: readonly string[],
): string[] | undefined {
  const names = [...new Set((requested ?? '').split(/\s+/).filter(Boolean))];
  if (names.length === 0) return [...granted];
  return names.every((name) => granted.includes(name)) ? names : undefined;
}
