/** Colours and scopes of labels. */
import { describe, expect, test } from 'vitest';
import { isLabelName, labelScope, withoutScopedSiblings } from './label-names.ts';
import { colorCode, presentLabelBasic, textColor } from './label-records.ts';

describe('colours', () => {
  test.each([
    ['#AbCdEf', '#AbCdEf'],
    ['#f0A', '#ff00AA'],
    [' #ff0000 ', '#ff0000'],
    ['red', '#FF0000'],
    ['RebeccaPurple', '#663399'],
    ['aliceblue', '#F0F8FF'],
    ['yellowgreen', '#9ACD32'],
  ])('%s is %s', (text, code) => {
    expect(colorCode(text)).toBe(code);
  });

  test.each(['', '#', '#12', '#12345', '#1234567', '#gggggg', 'ff0000', 'reddish', '__proto__', '#ff0000;x'])(
    '%j is none',
    (text) => {
      expect(() => colorCode(text)).toThrow('must be a valid color code');
    },
  );

  test.each([
    ['#000000', '#FFFFFF'],
    ['#d9534f', '#FFFFFF'],
    ['#f0ad4e', '#FFFFFF'],
    ['#FFFFFF', '#1F1E24'],
    ['#ffff00', '#1F1E24'],
  ])('on %s one writes in %s', (color, text) => {
    expect(textColor(color)).toBe(text);
  });
});

test.each([
  ['a', undefined],
  ['a::b', 'a::'],
  ['a::b::c', 'a::b::'],
  ['a::', undefined],
  ['::a', '::'],
  ['a:b', undefined],
])('the scope of %s is %s', (name, scope) => {
  expect(labelScope(name)).toBe(scope);
});

test.each([
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [
    ['p::1', 'x', 'p::2'],
    ['x', 'p::2'],
  ],
  [
    ['p::1', 'q::1', 'p::2', 'p::3'],
    ['q::1', 'p::3'],
  ],
  [
    ['p::q::1', 'p::1', 'p::q::2'],
    ['p::1', 'p::q::2'],
  ],
  [[], []],
])('of %j, %j stay', (names, stay) => {
  const labels = names.map((name) => ({ name }));
  expect(withoutScopedSiblings(labels).map(({ name }) => name)).toEqual(stay);
});

test.each([
  ['bug', true],
  ['two words', true],
  ['', false],
  ['a,b', false],
  ['x'.repeat(255), true],
  ['x'.repeat(256), false],
])('whether %j is a name: %s', (name, is) => {
  expect(isLabelName(name)).toBe(is);
});

test('a description leaves as text, not as HTML', () => {
  const time = new Date();
  const row = { id: 1, project_id: 1, namespace_id: null, name: 'x', color: '#000000', archived: false };
  const label = { ...row, description: '<b onclick="x">&', created_at: time, updated_at: time };
  expect(presentLabelBasic(label).description_html).toBe('&lt;b onclick=&quot;x&quot;&gt;&amp;');
});
