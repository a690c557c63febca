/** What CI variables may be, in tables. */

import { describe, expect, test } from 'vitest';
import { defaultPlanLimits } from '../../../kernel/instance/plan-limits.ts';
import {
  changedVariable,
  differences,
  MAX_VALUE_LENGTH,
  newVariable,
  placeProblems,
  problemsOf,
  type Variable,
  type VariableChanges,
  type VariableInput,
  visibilityProblems,
} from './rules.ts';

const plain: Variable = {
  key: 'KEY',
  value: 'value',
  variable_type: 'env_var',
  protected: false,
  masked: false,
  hidden: false,
  raw: false,
  environment_scope: '*',
  description: null,
};

describe('a new variable', () => {
  const cases: [given: VariableInput, made: Partial<Variable>][] = [
    [{ key: 'KEY', value: 'value' }, {}],
    [{ key: ' KEY\n', value: ' value ' }, { value: ' value ' }],
    [{ key: 'KEY', value: 'value', environment_scope: ' review/* ' }, { environment_scope: 'review/*' }],
    [{ key: 'KEY', value: 'value', masked: true }, { masked: true }],
    [
      { key: 'KEY', value: 'value', masked_and_hidden: true },
      { masked: true, hidden: true },
    ],
    [
      { key: 'KEY', value: 'value', masked_and_hidden: true, masked: false },
      { masked: true, hidden: true },
    ],
    [{ key: 'KEY', value: 'value', masked_and_hidden: false, masked: true }, { masked: true }],
    [
      { key: 'KEY', value: '', variable_type: 'file', protected: true, raw: true, description: 'Why' },
      { value: '', variable_type: 'file', protected: true, raw: true, description: 'Why' },
    ],
  ];
  test.each(cases)('%j', (given, made) => expect(newVariable(given)).toEqual({ ...plain, ...made }));
});

describe('what no variable can be', () => {
  const key = "can contain only letters, digits and '_'.";
  const scope = "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces";
  const tooLong = 'The value of the provided variable exceeds the 10000 character limit';
  const masked = (value: string, raw = false) => ({ masked: true, value, raw });
  const cases: [given: Partial<Variable>, problems: object][] = [
    [{}, {}],
    [{ key: 'a_B9' }, {}],
    [{ key: '' }, { key: ["can't be blank", key] }],
    [{ key: 'A-B' }, { key: [key] }],
    [{ key: 'A B' }, { key: [key] }],
    [{ key: 'KEY\n' }, { key: [key] }],
    [{ key: 'SCHLÜSSEL' }, { key: [key] }],
    [{ value: '' }, {}],
    [{ value: 'x'.repeat(MAX_VALUE_LENGTH) }, {}],
    [{ value: '🧱'.repeat(MAX_VALUE_LENGTH) }, {}],
    [{ value: 'x'.repeat(MAX_VALUE_LENGTH + 1) }, { value: [tooLong] }],
    [masked('12345678'), {}],
    [masked('1234567'), { value: ['is invalid'] }],
    [masked(''), { value: ['is invalid'] }],
    [masked('a_zA-Z0+9=/@:.~-'), {}],
    [masked('with space'), { value: ['is invalid'] }],
    [masked('12345678\n'), { value: ['is invalid'] }],
    [masked('line 1\nline 2'), { value: ['is invalid'] }],
    [masked('a$REFERENCE'), { value: ['is invalid'] }],
    [masked('a$REFERENCE', true), {}],
    [masked('größer,als?', true), {}],
    [masked('🧱🧱🧱🧱', true), { value: ['is invalid'] }],
    [masked('🧱🧱🧱🧱🧱🧱🧱🧱', true), {}],
    [masked('1234567', true), { value: ['is invalid'] }],
    [masked('with space', true), { value: ['is invalid'] }],
    [masked('with\ttab-stop', true), { value: ['is invalid'] }],
    [{ environment_scope: 'review/$CI_ref-1.{x} *' }, {}],
    [{ environment_scope: '' }, { environment_scope: ["can't be blank", scope] }],
    [{ environment_scope: 'a,b' }, { environment_scope: [scope] }],
    [{ environment_scope: 'a\\b' }, { environment_scope: [scope] }],
    [
      { key: '-', environment_scope: '?', ...masked('1') },
      { key: [key], environment_scope: [scope], value: ['is invalid'] },
    ],
  ];
  test.each(cases)('%j', (given, problems) => expect(problemsOf({ ...plain, ...given })).toEqual(problems));
});

describe('a change', () => {
  const never = 'The visibility setting cannot be changed for masked and hidden variables.';
  const hidden = { ...plain, masked: true, hidden: true };
  const cases: [before: Variable, given: VariableChanges, problems: object][] = [
    [plain, {}, {}],
    [plain, { masked: true }, {}],
    [hidden, { value: 'another' }, {}],
    [hidden, { masked: true }, {}],
    [hidden, { masked: false }, { base: [never] }],
  ];
  test.each(cases)('of who sees the value: %j, %j', (before, given, problems) =>
    expect(visibilityProblems(before, given)).toEqual(problems),
  );

  test('leaves what it does not name, and says what it made another', () => {
    const given = { value: 'another', environment_scope: ' test ' };
    const after = changedVariable(plain, given);
    expect(after).toEqual({ ...plain, value: 'another', environment_scope: 'test' });
    expect(differences(plain, after)).toEqual([
      { change: 'value' },
      { change: 'environment_scope', from: '*', to: 'test' },
    ]);
    expect(differences(plain, changedVariable(plain, { description: null, raw: false }))).toEqual([]);
  });
});

describe('a variable among others', () => {
  const exceeded = (what: string, most: number) => ({
    base: [`Maximum number of ${what} (${most}) exceeded`],
  });
  test.each([
    ['project', 7_999, false, {}],
    ['project', 8_000, false, exceeded('project ci variables', 8_000)],
    ['group', 30_000, false, exceeded('group ci variables', 30_000)],
    ['instance', 24, false, {}],
    ['instance', 25, false, exceeded('ci instance level variables', 25)],
    ['instance', 1, true, { key: ['(KEY) has already been taken'] }],
    [
      'instance',
      25,
      true,
      { key: ['(KEY) has already been taken'], ...exceeded('ci instance level variables', 25) },
    ],
  ] as const)('of the %s, where there are %i, taken: %s', (kind, count, taken, problems) =>
    expect(placeProblems(kind, plain, { count, taken }, defaultPlanLimits)).toEqual(problems),
  );
});
