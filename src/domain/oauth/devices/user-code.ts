/** User codes: a device shows one and its user types it on another (RFC 8628, sections 5.1 and 6.1). Pure. */

/** No vowels, so that no words arise, and no two letters that look alike: each is worth more than four bits. */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const CODES = BigInt(ALPHABET.length) ** BigInt(LENGTH);
const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** Random bytes for a code: so many more than it needs that no code is likelier than another. */
export const RANDOM_BYTES = 16;

/** The code that random bytes make, as it is stored: eight letters. */
export function userCodeFrom(random: Buffer): string {
  let rest = BigInt(`0x${random.toString('hex')}`) % CODES;
  let code = '';
  for (let letter = 0; letter < LENGTH; letter++) {
    code += ALPHABET.charAt(Number(rest % BigInt(ALPHABET.length)));
    rest /= BigInt(ALPHABET.length);
  }
  return code;
}

/** The code as people read it: `BCDF-GHJK`. */
export const showUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** The code that a user typed, in any case and with any separators; undefined when it can be none. */
export function parseUserCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return CODE.test(letters) ? letters : undefined;
}
