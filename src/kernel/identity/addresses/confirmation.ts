/** Links that confirm a mail address. */
import { digest, randomText, seal } from '../../../platform/secret.ts';

/** The fact that requests the mail with a link; its payload is `user_id`, `email` and `token_sealed`. */
export const CONFIRMATION_REQUESTED = 'email_confirmation_requested';

/** A secret for a link in a mail: the stored digest, and the sealed secret for the mail. */
export function newConfirmation(secretKey: string): { confirmation_digest: Buffer; token_sealed: string } {
  const token = randomText(20);
  return { confirmation_digest: digest(token), token_sealed: seal(secretKey, token) };
}

/** The fact for the mail: the address, and the sealed secret for the link to /users/confirmation. */
export const confirmationRequested = (userId: number, email: string, tokenSealed: string) => ({
  name: CONFIRMATION_REQUESTED,
  payload: { user_id: userId, email, token_sealed: tokenSealed },
});

/** The fact of a registration with an existing account's address; its payload is `user_id` and `email`. */
export const KNOWN_ADDRESS_REGISTERED = 'known_address_registered';

/** The fact of an added address that another account has; its payload is the same, of that account. */
export const KNOWN_ADDRESS_ADDED = 'known_address_added';
