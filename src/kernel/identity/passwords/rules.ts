/** Password rules of the instance. Pure: the API and the sign-in pages share them. */
import type { ApplicationSettings } from '../../settings/definitions.ts';

export const MAX_PASSWORD_LENGTH = 128;

type PasswordSettings = Pick<
  ApplicationSettings,
  | 'minimum_password_length'
  | 'password_number_required'
  | 'password_symbol_required'
  | 'password_uppercase_required'
  | 'password_lowercase_required'
>;

/** The problems of the password, as messages of the property `password`; empty when it is valid. */
export function passwordProblems(password: string, settings: PasswordSettings): string[] {
  const length = [...password].length;
  const least = settings.minimum_password_length;
  const rules: [broken: boolean, message: string][] = [
    [length < least, `is too short (minimum is ${least} characters)`],
    [length > MAX_PASSWORD_LENGTH, `is too long (maximum is ${MAX_PASSWORD_LENGTH} characters)`],
    [settings.password_number_required && !/\p{Nd}/u.test(password), 'must contain at least one number'],
    [
      settings.password_lowercase_required && !/\p{Ll}/u.test(password),
      'must contain at least one lowercase letter',
    ],
    [
      settings.password_uppercase_required && !/\p{Lu}/u.test(password),
      'must contain at least one uppercase letter',
    ],
    [
      settings.password_symbol_required && !/[^\p{L}\p{Nd}\s]/u.test(password),
      'must contain at least one symbol',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, message]) => message);
}
