/** Names and passwords of mirrors: sealed where they are kept, and shown to nobody. */
import { seal, unseal } from '../../platform/secret.ts';
import type { MirrorRow } from './queries.ts';
import type { Address, Credentials } from './remote/address.ts';

export const sealCredentials = (key: string, credentials: Credentials | undefined): string | null =>
  credentials ? seal(key, JSON.stringify(credentials)) : null;

/** Where a mirror leads, with what opens it. */
export const addressOf = (
  key: string,
  { url, credentials_sealed }: Pick<MirrorRow, 'url' | 'credentials_sealed'>,
): Address => ({
  url,
  // Written by sealCredentials() only.
  credentials: credentials_sealed === null ? undefined : JSON.parse(unseal(key, credentials_sealed)),
});

/** The address as records and mails show it. */
export const shownUrl = ({
  url,
  credentials_sealed,
}: Pick<MirrorRow, 'url' | 'credentials_sealed'>): string =>
  credentials_sealed === null ? url : url.replace('://', '://*****:*****@');
