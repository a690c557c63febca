/** Secret settings: sealed before they are stored, and never in a response. */
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { secretSettings } from '../../kernel/settings/definitions.ts';
import type { Json } from '../../platform/db/rows.ts';
import { seal, unseal } from '../../platform/secret.ts';
import type { SettingsInput } from './schema.ts';

/** Whether the sealed text is the value. One that was sealed under another key is no value any more. */
function isSealed(secretKey: string, sealed: string, value: string): boolean {
  try {
    return unseal(secretKey, sealed) === value;
  } catch {
    return false;
  }
}

/** The input with its secrets sealed; an unchanged one keeps its sealed text, so that it is no change. */
export function sealSecrets(
  secretKey: string,
  before: ApplicationSettings,
  input: SettingsInput,
): SettingsInput {
  const sealed: SettingsInput = { ...input };
  for (const name of secretSettings) {
    const value = input[name]?.trim();
    if (value === undefined) continue;
    const same = isSealed(secretKey, before[name], value);
    sealed[name] = value === '' ? '' : same ? before[name] : seal(secretKey, value);
  }
  return sealed;
}

const secretNames: readonly string[] = secretSettings;

/** The value of a setting as an audit event may show it. */
export function shownValue(name: string, value: unknown): Json {
  if (secretNames.includes(name)) return value === '' ? '' : '[hidden]';
  // Settings are JSON already; audit events show lists and objects as text.
  return value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean'
    ? value
    : JSON.stringify(value);
}
