/** Client keys: what applications show to report their errors, and where they show it. Pure but for a key's making. */
import type { HttpRequest } from '../../platform/http/messages.ts';
import { randomHex } from '../../platform/secret.ts';

const PREFIX = 'glet_';

/** A new key (facts: Error tracking). Whoever has the application can read it: it opens nothing but the collector. */
export const makeKey = (): string => `${PREFIX}${randomHex(16)}`;

const isKey = (text: string | null | undefined): text is string => /^glet_[0-9a-f]{32}$/.test(text ?? '');

/** The address that an application is configured with. */
export function dsnOf(baseUrl: string, publicKey: string, projectId: number): string {
  const [scheme = '', rest = ''] = baseUrl.split('://');
  return `${scheme}://${publicKey}@${rest}/api/v4/error_tracking/collector/${projectId}`;
}

/** The key in an address that an application is configured with; undefined where it has none of ours. */
export function keyOfDsn(dsn: string): string | undefined {
  const key = URL.parse(dsn)?.username;
  return isKey(key) ? key : undefined;
}

type Presented = { key: string | undefined; isGiven: boolean };

const asPresented = (text: string): Presented => ({ key: isKey(text) ? text : undefined, isGiven: true });

/**
 * The key in the query or in a header (`Sentry sentry_key=…, …`). Without `isGiven` there was none, and the report itself
 * may name it; without `key` what was given is no key.
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
