/** Rules for mail addresses and for the domains that may register. Pure. */
import { fits } from '../../../platform/patterns/wildcard.ts';
import type { ApplicationSettings } from '../../settings/definitions.ts';

/** The schema of an address, stricter than isMailAddress(): addresses that every program can write. */
export const mailAddress = { format: 'email' };

/** One `@`, no space or control character, and a domain of letters, digits, dots and hyphens: deliverable. */
const ADDRESS = /^[^\s@<>()[\],;:"\\\p{Cc}]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,251}[\p{L}\p{N}])?$/u;

export const isMailAddress = (text: string): boolean =>
  text.length <= 254 && ADDRESS.test(text) && !text.includes('..');

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/** Whether a rule matches the domain; `*` matches anything, dots too. */
const domainMatches = (domain: string, rule: string): boolean => fits(domain, rule.trim().toLowerCase());

type MailDomainSettings = Pick<
  ApplicationSettings,
  'domain_allowlist' | 'domain_denylist' | 'domain_denylist_enabled'
>;

/** Why this address may not register, as a message of the property `email`; undefined when it may. */
export function signUpMailProblem(address: string, settings: MailDomainSettings): string | undefined {
  const domain = domainOf(address);
  const named = (rules: readonly string[]) => rules.some((rule) => domainMatches(domain, rule));
  if (settings.domain_allowlist.length > 0 && !named(settings.domain_allowlist)) {
    return 'is not from an allowed domain';
  }
  if (settings.domain_denylist_enabled && named(settings.domain_denylist)) {
    return 'is not allowed for sign-up';
  }
  return undefined;
}
