/** Client keys, by which applications report errors, and their DSNs. Pure but for the creation of a key. */
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { randomHex } from '../../../platform/secret.ts';

const PREFIX = 'glet_';

/** A new key (facts: Error tracking). Users of the application can read it; it opens only the collector. */
export const makeKey = (): string => `${PREFIX}${randomHex(16)}`;

const isKey = (text: string | null | undefined): text is string => /^glet_[0-9a-f]{32}$/.test(text ?? '');

/** The DSN that an application is configured with. */
export function dsnOf(baseUrl: string, publicKey: string, projectId: number): string {
  const [scheme = '', rest = ''] = baseUrl.split('://');
  return `${scheme}://${publicKey}@${rest}/api/v4/error_tracking/collector/${projectId}`;
}

/** The key in a DSN; undefined where it has no key of this server. */
export function keyOfDsn(dsn: string): string | undefined {
  const key = URL.parse(dsn)?.username;
  return isKey(key) ? key : undefined;
}

type Presented = { key: string | undefined; isGiven: boolean };

const asPresented = (text: string): Presented => ({ key: isKey(text) ? text : undefined, isGiven: true });

/**
 * Reads the key in the query or in a header (`Sentry sentry_key=…, …`). Without `isGiven` the request has
 * none, and the report may name it; without `key` the given text is not a key.
 */
export function readClientKey({ query, headers }: Pick<HttpRequest, 'query' | 'headers'>): Presented {
  const requested = query.includes('sentry_key') ? new URLSearchParams(query).get('sentry_key') : null;
  if (requested !== null) return asPresented(requested);
  for (const header of [headers['x-sentry-auth'], headers.authorization]) {
    const [, key] =
      /^\s*sentry\s(?:.*[\s,])?sentry_key\s*=\s*([^\s,]+)/i.exec(header?.toString() ?? '') ?? [];
    if (key !== undefined) return asPresented(key);
  }
  return { key: undefined, isGiven: false };
}
