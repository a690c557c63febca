/** The language of templates. */
import { describe, expect, test } from 'vitest';
import { DEFAULT_TEMPLATE } from './configuration.ts';
import { parseTemplate, renderTemplate, type Value } from './template.ts';

const render = (template: string, data: Value) => renderTemplate(parseTemplate(template), data);

test.each<[string, Value, string]>(
  [
    ['a {{ x }} b', { x: 'y' }, 'a y b'],
    ['{{x.y.0.z}}', { x: { y: [{ z: 3 }] } }, '3'],
    ['[{{ none }}{{ x.none }}{{ x }}]', { x: { a: 1 } }, '[]'],
    ['---\n{% if foo %}\nbar\n{% end %}\n---\n', { foo: true }, '---\nbar\n---\n'],
    ['{% if x %}yes{% else %}no{% end %}', { x: [] }, 'no'],
    ['{% if x %}yes{% else %}no{% end %}', { x: {} }, 'no'],
    ['{% if x %}yes{% else %}no{% end %}', { x: '' }, 'no'],
    ['{% if x %}yes{% else %}no{% end %}', { x: 'a' }, 'yes'],
    ['{% if x %}yes{% else %}no{% end %}', {}, 'no'],
    ['{% each xs %}\n- {{ it }}\n{% end %}\n', { xs: ['a', 'b'] }, '- a\n- b\n'],
    ['{% each users %}\n{{name}}\n{% end %}', { users: [{ name: 'a' }, { name: 'b' }] }, 'a\nb\n'],
    ['{% each xs %}{% each it %}{{ it }}{% end %};{% end %}', { xs: [[1, 2], [3]] }, '12;3;'],
    ['a\\\nb', {}, 'ab'],
    ['{{ x }}\\\nb\n{% if x %}\\\n c{% end %}', { x: 'a' }, 'ab\n c'],
    ['{{ constructor }}{{ x.length }}{{ __proto__.a }}', { x: 'text' }, ''],
    ['{{ xs.length }}', { xs: [1] }, ''],
    ['{{ a', {}, ''],
  ].slice(0, -1) as [string, Value, string][],
)('%j with %j', (template, data, text) => {
  expect(render(template, data)).toBe(text);
});

test.each([
  ['{{ a', 'not closed'],
  ['{% if a', 'not closed'],
  ['{% if a %}', 'not closed by'],
  ['{% end %}', 'not expected'],
  ['{% else %}', 'not expected'],
  ['{% if a %}{% else %}{% else %}{% end %}', 'not expected'],
  ['{% each a %}{% else %}{% end %}', 'not expected'],
  ['{% if %}{% end %}', 'no variable'],
  ['{% if a b %}{% end %}', 'no variable'],
  ['{{ a..b }}', 'no variable'],
  ['{{ system("x") }}', 'no variable'],
  ['{% while a %}{% end %}', 'not expected'],
  ['{% if a %}'.repeat(21), 'more than 20 deep'],
])('%j is none', (template, problem) => {
  expect(() => parseTemplate(template)).toThrow(problem);
});

describe('what takes too much', () => {
  const xs = Array.from({ length: 1_000 }, () => 'x'.repeat(10_000));
  test.each([
    ['{% each xs %}{{ it }}{% end %}', 'too long'],
    ['{% each xs %}{% each ys %}{% end %}{% end %}'.repeat(301), 'too many steps'],
  ])('is refused: %#', (template, problem) => {
    expect(() => render(template, { xs })).toThrow(problem);
  });
});

test('the usual template', () => {
  const commit = { web_url: 'https://e/1' };
  const entries = [
    {
      title: 'One',
      commit,
      author: { reference: '@a', credit: true },
      merge_request: { web_url: 'https://e/!1' },
    },
    { title: 'Two', commit, author: { reference: '@b', credit: false } },
  ];
  const categories = [
    { title: 'Features', count: 2, single_change: false, entries },
    { title: 'Bugs', count: 1, single_change: true, entries: [{ title: 'Three', commit }] },
  ];
  expect(render(DEFAULT_TEMPLATE, { categories })).toBe(`### Features (2 changes)

- [One](https://e/1) by @a ([merge request](https://e/!1))
- [Two](https://e/1)

### Bugs (1 change)

- [Three](https://e/1)

`);
  expect(render(DEFAULT_TEMPLATE, { categories: [] })).toBe('No changes.\n');
});

test('whether a list has items takes no look at each of them', () => {
  const never = () => {
    throw new Error('the items are counted');
  };
  const xs = new Proxy(['a', 'b'], { ownKeys: never });
  expect(render('{% if xs %}yes{% end %}', { xs })).toBe('yes');
});
