/** Settings as the fields of a form: what each one's control is, its value as text, and what was typed as a value. Pure. */
import {
  type ApplicationSettings,
  type SettingName,
  secretSettings,
  settingSections,
} from '../../kernel/settings/definitions.ts';
import { Failure } from '../../platform/failure.ts';
import { parseJsonBody } from '../../platform/http/parameters/raw-parameters.ts';
import { digest } from '../../platform/secret.ts';

export type SectionName = keyof typeof settingSections;

export const isSection = (name: string): name is SectionName => Object.hasOwn(settingSections, name);

type Control =
  | { kind: 'tick' | 'number' | 'line' | 'text' | 'lines' | 'json' | 'secret' }
  | { kind: 'one' | 'several'; options: readonly string[] };

export type SettingField = { name: SettingName; description: string; nullable: boolean } & Control;

/** What definitions.ts declares of a setting. */
type Declared = {
  type: string | string[];
  description?: string;
  enum?: string[];
  items?: { enum?: string[] };
  maxLength?: number;
  writeOnly?: boolean;
  deprecated?: boolean;
};

/** Longer texts than this have several lines. */
const MAX_LINE_LENGTH = 2_000;

function controlOf(declared: Declared): Control {
  const type = [declared.type].flat()[0];
  if (declared.writeOnly) return { kind: 'secret' };
  if (type === 'boolean') return { kind: 'tick' };
  if (type === 'integer') return { kind: 'number' };
  if (type === 'object') return { kind: 'json' };
  if (type === 'array')
    return declared.items?.enum ? { kind: 'several', options: declared.items.enum } : { kind: 'lines' };
  if (declared.enum) return { kind: 'one', options: declared.enum };
  return { kind: (declared.maxLength ?? 0) > MAX_LINE_LENGTH ? 'text' : 'line' };
}

/** The fields of a section; a setting with a newer form is changed by that one. */
export const fieldsOf = (section: SectionName): SettingField[] =>
  // Schemas are JSON Schema; their types do not say so.
  (Object.entries(settingSections[section].properties) as unknown as [SettingName, Declared][]).flatMap(
    ([name, declared]) =>
      declared.deprecated
        ? []
        : {
            name,
            description: declared.description ?? '',
            nullable: Array.isArray(declared.type) && declared.type.includes('null'),
            ...controlOf(declared),
          },
  );

/** The name of the control for one of several options. */
export const optionName = (name: string, option: string): string => `${name}.${option}`;

/** The control by which a secret is removed. */
export const removalName = (name: string): string => `${name}.remove`;

/** The value as its form has it; a secret leaves nothing. */
export function textOf(field: SettingField, settings: ApplicationSettings): string {
  const value = settings[field.name];
  if (field.kind === 'secret' || value === null) return '';
  if (field.kind === 'tick') return value === true ? '1' : '';
  if (field.kind === 'json') return JSON.stringify(value, null, 2);
  if (field.kind === 'several') return field.options.filter((option) => isIn(option, value)).join('\n');
  return Array.isArray(value) ? value.join('\n') : String(value);
}

const isIn = (option: string, value: unknown): boolean => Array.isArray(value) && value.includes(option);

const linesOf = (text: string): string[] => text.split('\n').flatMap((line) => line.trim() || []);

/** What was typed, as textOf() writes it; browsers end lines by two characters. */
export function typedText(field: SettingField, typed: (name: string) => string): string {
  if (field.kind === 'several')
    return field.options.filter((option) => typed(optionName(field.name, option)) === '1').join('\n');
  const text = typed(field.name).replaceAll('\r\n', '\n');
  return field.kind === 'lines' ? linesOf(text).join('\n') : text;
}

/** The value for the API; undefined for what cannot be read. */
function valueFor(field: SettingField, text: string): unknown {
  if (field.kind === 'tick') return text === '1';
  if (field.kind === 'lines' || field.kind === 'several') return linesOf(text);
  if (field.kind === 'number' && text.trim() === '' && field.nullable) return null;
  if (field.kind !== 'json') return text;
  if (text.trim() === '') return undefined;
  try {
    return parseJsonBody(text);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

const MARK_LENGTH = 12;
const markOf = (text: string): string => digest(text).toString('base64url').slice(0, MARK_LENGTH);

/** Marks of the values that a form shows: by them it is known which ones the reader changed. */
export const marksOf = (fields: readonly SettingField[], settings: ApplicationSettings): string =>
  JSON.stringify(Object.fromEntries(fields.map((field) => [field.name, markOf(textOf(field, settings))])));

function readMarks(text: string): ReadonlyMap<string, unknown> {
  try {
    return new Map(Object.entries(JSON.parse(text) as object));
  } catch {
    return new Map();
  }
}

/**
 * The values that the reader changed, and what cannot be read. What is as the form showed it is left out: somebody else may
 * have changed it meanwhile.
 */
export function changesIn(
  fields: readonly SettingField[],
  typed: (name: string) => string,
  marks: string,
): { changes: Record<string, unknown>; unreadable: SettingName[] } {
  const shown = readMarks(marks);
  const changes: Record<string, unknown> = {};
  const unreadable: SettingName[] = [];
  for (const field of fields) {
    const text = typedText(field, typed);
    if (field.kind === 'secret') {
      if (text !== '') changes[field.name] = text;
      else if (typed(removalName(field.name)) === '1') changes[field.name] = '';
      continue;
    }
    if (shown.get(field.name) === markOf(text)) continue;
    const value = valueFor(field, text);
    if (value === undefined) unreadable.push(field.name);
    else changes[field.name] = value;
  }
  return { changes, unreadable };
}

const spelled: Readonly<Record<string, string>> = {
  api: 'API',
  ci: 'CI',
  gpg: 'GPG',
  http: 'HTTP',
  id: 'id',
  maven: 'Maven',
  npm: 'npm',
  oauth: 'OAuth',
  pypi: 'PyPI',
  recaptcha: 'reCAPTCHA',
  ropc: 'ROPC',
  ssh: 'SSH',
  url: 'URL',
};

/** The name of a setting in words. */
export function labelOf(name: string): string {
  const words = name.split('_').map((word) => spelled[word] ?? word);
  const [first = '', ...rest] = words;
  const begun =
    first === 'npm' || first === 'reCAPTCHA' ? first : `${first[0]?.toUpperCase() ?? ''}${first.slice(1)}`;
  return [begun, ...rest].join(' ');
}

/** Whether the secret is set. */
export const isSet = (name: SettingName, settings: ApplicationSettings): boolean =>
  secretSettings.some((secret) => secret === name && settings[secret] !== '');
