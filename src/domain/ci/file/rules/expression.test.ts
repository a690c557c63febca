/** What expressions hold, quirk by quirk, and what is none. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holds, parseExpression } from './expression.ts';
import { regexCompiler } from './regex.ts';

const compile = await regexCompiler();
const values: Record<string, string> = {
  A: 'a',
  B: 'b',
  TEXT: 'feature/one',
  EMPTY: '',
  BLANK: '  ',
  ZERO: '0',
  FALSE: 'false',
  PATTERN: '/^feat/',
  CASELESS: '/^FEAT/i',
  BROKEN: '/(ab/',
  ONE: '/a/',
  PLAIN: 'a feature/one b',
};
const names = { variable: (name: string) => values[name], input: () => 'in' };

describe('an expression holds', () => {
  test.each<[text: string, expected: boolean]>([
    // Presence.
    ['$A', true],
    ['$EMPTY', false],
    ['$BLANK', false],
    ['$NONE', false],
    ['$ZERO', true],
    ['$FALSE', true],
    ['"x"', true],
    ['""', false],
    ['null', false],
    ['true', true],
    ['false', false],
    // Equality.
    ['$A == "a"', true],
    ["$A == 'a'", true],
    ['"a" == $A', true],
    ['$A != "a"', false],
    ['$A == $B', false],
    ['$NONE == null', true],
    ['$NONE != null', false],
    ['$A != null', true],
    ['$EMPTY == null', false],
    ['$NONE == ""', false],
    ['$NONE != ""', true],
    ['$EMPTY == ""', true],
    ['$FALSE == false', true],
    ['$FALSE == "false"', true],
    ['$A == true', false],
    ['$NONE == false', false],
    ['null == null', true],
    ['/ab+/ == "/ab+/"', true],
    // Patterns.
    ['$TEXT =~ /^feature\\/.+$/', true],
    ['$TEXT =~ /one/', true],
    ['$TEXT =~ /ONE/', false],
    ['$TEXT =~ /ONE/i', true],
    ['$TEXT =~ /ON.+/imsU', true],
    ['$TEXT =~ /two/ || $TEXT =~ /one/', true],
    ['$TEXT =~ /\\bone$/', true],
    ['$TEXT !~ /two/', true],
    ['$TEXT !~ /one/', false],
    ['$NONE =~ /^$/', true],
    ['$NONE =~ /ab/', false],
    ['$TEXT =~ $PATTERN', true],
    ['$TEXT =~ $CASELESS', true],
    ['$TEXT =~ "/^feat/"', true],
    ['$TEXT =~ $NONE', false],
    ['$TEXT !~ $NONE', true],
    ['$TEXT =~ null', false],
    ['$TEXT !~ null', true],
    // The right side is no pattern, and is searched for the left one.
    ['$TEXT =~ $PLAIN', true],
    ['$PLAIN =~ $TEXT', false],
    ['$TEXT !~ $PLAIN', false],
    ['"ab" =~ $BROKEN', true],
    ['"a" =~ $ONE', true],
    ['"b" =~ $ONE', false],
    ['$NONE =~ "x"', true],
    ['"tru" =~ true', true],
    // Operands of && and || are values, and an empty text is one.
    ['$A && $B', true],
    ['$A && $NONE', false],
    ['$NONE && $A', false],
    ['$EMPTY && $B', true],
    ['$B && $EMPTY', false],
    ['$A || $NONE', true],
    ['$NONE || $B', true],
    ['$EMPTY || $B', false],
    ['$NONE || $EMPTY', false],
    ['false || $B', true],
    ['!$EMPTY || $B', true],
    // Strength and grouping.
    ['$NONE && $A || $B', true],
    ['$B || $NONE && $NONE', true],
    ['($B || $NONE) && $NONE', false],
    ['$A == "a" && $B == "b"', true],
    ['$A == "x" || $B == "b"', true],
    ['!$A', false],
    ['!$NONE', true],
    ['!$EMPTY', true],
    ['!!$A', true],
    ['!$A == "x"', false],
    ['!$NONE == true', true],
    ['!($A == "x")', true],
    ['$A == "a" == true', true],
    ['($A)', true],
    ['(($A == "a"))', true],
    // Writing.
    ['$A=="a"', true],
    ['  $A\n  && $B  ', true],
    ['$[[ inputs.x ]] == "in"', true],
    ['"$A" == "a"', false],
    ['"it\'s" == "it\'s"', true],
  ])('%s: %s', (text, expected) => {
    const expression = parseExpression(text, compile);
    expect(expression && holds(expression, names, compile)).toBe(expected);
  });
});

test.each([
  '',
  '   ',
  '$',
  'A',
  '{A}',
  '$A ==',
  '== $A',
  '$A $B',
  '$A = "a"',
  '$A == "a',
  '$A & $B',
  '($A',
  '$A)',
  '()',
  '!',
  '$A !',
  '$A =~ /a/',
  '$A =~ //',
  '$A =~ /(ab/',
  '$A =~ /ab',
  '$A =~ /(?=ab)/',
  '$A =~ /ab/x',
  '$A =~ /[/]ab/',
  'nullable',
  '1 == 1',
  Array(51).fill('$A').join(' && '),
  '('.repeat(5_000),
])('%j is none', (text) => {
  expect(parseExpression(text, compile)).toBeUndefined();
});

test('braces are none of the language', () => {
  expect(parseExpression('$'.concat('{A} == "a"'), compile)).toBeUndefined();
});

test('a hundred lexemes are an expression', () => {
  expect(parseExpression(`!${Array(50).fill('$A').join(' && ')}`, compile)).toBeDefined();
});

test('whatever the text, it is an expression that holds or not, or none', () => {
  const part = fc.constantFrom(
    ...['$A', '$NONE', '$PLAIN', '"x"', "'", '"', '/ab/', '/(/', 'null', 'true', '==', '!=', '=~', '!~'],
    ...['&&', '||', '!', '(', ')', ' ', '$[[ inputs.x ]]', '\\', '/', 'é'],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const expression = parseExpression(parts.join(''), compile);
      return expression === undefined || typeof holds(expression, names, compile) === 'boolean';
    }),
    { numRuns: 2_000 },
  );
});
