import { beforeAll, expect, test } from 'vitest';
import type { Json } from '../file/plan.ts';
import { type RegexCompiler, regexCompiler } from '../file/rules/regex.ts';
import { type GivenInputs, mergeGiven, sentInputs } from './job-inputs.ts';

let compile: RegexCompiler;
beforeAll(async () => {
  compile = await regexCompiler();
});

const declared: Json = {
  stone: { default: 'slate', options: ['slate', 'granite'] },
  count: { default: 3, type: 'number' },
  wet: { default: false, type: 'boolean' },
  tools: { default: ['saw'], type: 'array' },
  name: { default: 'a1', regex: '^[a-z]\\d$' },
  constructor: { default: '' },
};

test.each<[GivenInputs, GivenInputs | null, GivenInputs | string]>([
  [{}, null, {}],
  [{ stone: 'granite' }, null, { stone: 'granite' }],
  [{ stone: 'granite' }, { stone: 'slate', count: 1 }, { stone: 'granite', count: 1 }],
  [{ constructor: 'x' }, null, { constructor: 'x' }],
  [{ clay: 'x' }, null, 'Unknown input: clay'],
  [{ clay: 'x', toString: 1 }, null, 'Unknown inputs: clay, toString'],
  [{ stone: 'marble' }, null, '`stone` input: `marble` cannot be used because it is not in the list'],
  [{ stone: 1 }, null, '`stone` input: provided value is not a string'],
  [{ count: '3' }, null, '`count` input: provided value is not a number'],
  [{ wet: 'true' }, null, '`wet` input: provided value is not a boolean'],
  [{ wet: null }, { wet: true, count: 1 }, { count: 1 }],
  [{ tools: 'saw' }, null, '`tools` input: provided value is not an array'],
  [{ name: 'bb' }, null, '`name` input: provided value does not match required RegEx pattern'],
  [{ tools: ['x'.repeat(65_536)] }, null, 'inputs have at most 65536 characters together'],
])('%j after %j', (given, before, result) => {
  const merge = () => mergeGiven(declared, before, given, compile);
  if (typeof result === 'string') expect(merge).toThrow(result);
  else expect(merge()).toEqual(result);
});

test.each<[Json, GivenInputs | null, [string, Json, string][]]>([
  [null, null, []],
  [
    declared,
    null,
    [
      ['stone', 'slate', 'string'],
      ['count', 3, 'number'],
      ['wet', false, 'boolean'],
      ['tools', ['saw'], 'array'],
      ['name', 'a1', 'string'],
      ['constructor', '', 'string'],
    ],
  ],
  [{ stone: { default: 'slate' } }, { stone: 'granite' }, [['stone', 'granite', 'string']]],
  [{ part: { default: '1.5', type: 'number' } }, null, [['part', 1.5, 'number']]],
  [{ part: { default: 1, type: 'number' } }, { part: 2.5 }, [['part', 2.5, 'number']]],
])('the inputs %j with %j', (inputs, given, sent) =>
  expect(sentInputs(inputs, given)).toEqual(
    sent.map(([key, content, type]) => ({ key, value: { content, type, sensitive: false } })),
  ),
);
