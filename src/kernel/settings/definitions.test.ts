/** Every setting is read by code, or is listed here until its capability comes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Schema from 'typebox/schema';
import { expect, test } from 'vitest';
import { branchProtectionLevel } from '../policy/branch-protection.ts';
import { ApplicationSettingsSchema, defaultSettings } from './definitions.ts';

/** Settings that only later capabilities read. A name leaves this list with its code. */
const later: readonly string[] = [];

const source = fileURLToPath(new URL('../..', import.meta.url));
/** Folders that define, change and show settings, or have columns of the same names. */
const elsewhere = [join('kernel', 'settings'), join('domain', 'settings'), 'platform'];

const program = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .filter((path) => !elsewhere.some((folder) => path.startsWith(folder)))
  .map((path) => readFileSync(join(source, path), 'utf8'))
  .join('\n');

/** The three settings of a throttle are read under its name. */
const wordOf = (name: string): string =>
  name.replace(/^(throttle_\w+)_(?:enabled|requests_per_period|period_in_seconds)$/, '$1');

const isObeyed = (name: string): boolean => new RegExp(`\\b${wordOf(name)}\\b`).test(program);

test('every setting is obeyed', () => {
  const names = Object.keys(ApplicationSettingsSchema.properties);
  expect(names.filter((name) => !isObeyed(name))).toEqual(later);
});

test('the defaults are what the schema allows, and agree with one another', () => {
  const validator = Schema.Compile(ApplicationSettingsSchema);
  expect(validator.Errors(defaultSettings)[1]).toEqual([]);
  expect(branchProtectionLevel(defaultSettings.default_branch_protection_defaults)).toBe(
    defaultSettings.default_branch_protection,
  );
});
