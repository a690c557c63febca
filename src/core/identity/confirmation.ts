/** Links that prove that somebody reads a mail address. */
import { digest, randomText, seal } from '../../platform/secret.ts';

/** A secret that a link in a mail carries: what is stored of it, and what the sender of the mail is told. */
export function newConfirmation(secretKey: string): { confirmation_digest: Buffer; token_sealed: string } {
  const token = randomText(20);
  return { confirmation_digest: digest(token), token_sealed: seal(secretKey, token) };
}

/** What whoever sends mail hears: the address, and the sealed secret for the link to /users/confirmation. */
export const confirmationRequested = (userId: number, email: string, tokenSealed: string) => ({
  name: 'email_confirmation_requested',
  payload: { user_id: userId, email, token_sealed: tokenSealed },
});
