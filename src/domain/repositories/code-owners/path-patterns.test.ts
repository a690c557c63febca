/** Which paths a pattern of a code owners file fits. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPatternIndex } from './path-patterns.ts';

function indexPatterns(patterns: readonly string[]) {
  const index = createPatternIndex();
  for (const [place, pattern] of patterns.entries()) index.add(pattern, place);
  return (path: string, left = Number.MAX_SAFE_INTEGER) => index.find(path, { left });
}

const fits = (pattern: string, path: string): boolean => indexPatterns([pattern])(path)?.length === 1;

test.each([
  // Anchors and depth
  ['README.md', ['README.md', 'docs/README.md', 'a/b/README.md'], ['README.mdx', 'README.md/x']],
  ['/README.md', ['README.md'], ['docs/README.md']],
  ['*', ['a', '.a', 'a/b', 'a/.b/c'], []],
  ['/*', ['a', '.a'], ['a/b']],
  ['/', ['a', 'a/b/c'], []],
  ['**', ['a', 'a/b/c'], []],
  // Folders
  ['docs', ['docs', 'a/docs'], ['docs/a', 'docs2']],
  ['docs/', ['docs/a', 'docs/a/b', 'x/docs/a'], ['docs']],
  ['/docs/', ['docs/a', 'docs/a/b'], ['docs', 'x/docs/a']],
  ['/docs/*', ['docs/a', 'docs/.a'], ['docs/a/b', 'docs']],
  ['/docs/**', ['docs/a', 'docs/a/b'], ['docs', 'x/docs/a']],
  ['/docs/**/*.md', ['docs/a.md', 'docs/a/b/c.md'], ['docs/a.rst', 'a.md']],
  ['docs/*/a', ['docs/x/a', 'y/docs/x/a'], ['docs/a', 'docs/x/y/a']],
  ['/a/**/b/**/c', ['a/b/c', 'a/x/b/y/z/c', 'a/b/b/c/c'], ['a/c', 'a/b/x', 'b/c']],
  ['a//b', ['a/b', 'x/a/b'], ['a/x/b']],
  // Wildcards in names
  ['*.rb', ['a.rb', '.rb', 'x/a.b.rb'], ['a.rbx', 'a.rb/b']],
  ['a*b*c', ['abc', 'axbyc', 'aabbcc', 'abcbc'], ['ab', 'abcd', 'a/bc']],
  ['a**b', ['ab', 'axyb'], ['a/b', 'a/x/b']],
  ['a?c', ['abc', 'a.c', 'aéc', 'a😀c'], ['ac', 'abbc', 'a/c']],
  ['[a-c]x', ['ax', 'cx'], ['dx', 'x', '-x']],
  ['[!a-c]x', ['dx', '-x'], ['ax', 'x']],
  ['[^a]x', ['bx'], ['ax']],
  ['[]a]x', [']x', 'ax'], ['bx']],
  ['[a-]x', ['ax', '-x'], ['bx']],
  ['[z-a]x', [], ['ax', 'zx', 'mx', '[z-a]x']],
  ['[\\]a]x', [']x', 'ax'], ['\\x']],
  ['[ax', ['[ax'], ['ax']],
  ['[a/b]', ['[a/b]'], ['a', 'b']],
  ['[[]*', ['[', '[x'], ['x']],
  // Escapes
  ['a\\ b', ['a b'], ['a\\ b', 'a']],
  ['\\#a', ['#a'], ['a', '\\#a']],
  ['\\*', ['*'], ['a']],
  ['\\[a]', ['[a]'], ['a']],
  ['a\\', ['a\\'], ['a']],
])('%j', (pattern, fitting, others) => {
  expect(fitting.filter((path) => !fits(pattern, path))).toEqual([]);
  expect(others.filter((path) => fits(pattern, path))).toEqual([]);
});

test('of many patterns, all that a path fits are told, in their order', () => {
  const find = indexPatterns(['*.md', '/docs/', 'x', 'docs/**/a.md', '*.md', '**/*.md']);
  expect(find('docs/a.md')).toEqual([0, 1, 3, 4, 5]);
  expect(find('x')).toEqual([2]);
  expect(find('y')).toEqual([]);
});

describe('properties', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 4 });
  const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join('/'));
  const part = fc.oneof(
    fc.constant('**'),
    fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), minLength: 1, maxLength: 4 }),
  );
  const pattern = fc
    .tuple(fc.constantFrom('', '/'), fc.array(part, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '/'))
    .map(([anchor, parts, end]) => `${anchor}${parts.join('/')}${end}`);

  /** The same by a regular expression, which backtracks. */
  function asExpression(text: string): RegExp {
    const anchored = text.startsWith('/') ? text.slice(1) : `**/${text}`;
    const whole = anchored.replace(/(\/|^)\*\*$/, '$1**/*').replace(/\/$/, '/**/*');
    const source = whole
      .split('/')
      .map((each, at, all) => {
        const end = at < all.length - 1 ? '/' : '';
        if (each === '**') return '(?:[^/]+/)*';
        return each.replaceAll('.', '\\.').replaceAll(/\*+/g, '[^/]*').replaceAll('?', '[^/]') + end;
      })
      .join('');
    return new RegExp(`^${source}$`, 'u');
  }

  test('a pattern fits what the same regular expression does', () => {
    fc.assert(
      fc.property(pattern, path, (text, at) => fits(text, at) === asExpression(text).test(at)),
      { numRuns: 2_000 },
    );
  });

  test('together, patterns fit what each of them does alone', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 8 }), path, (all, at) => {
        const alone = all.flatMap((each, place) => (fits(each, at) ? [place] : []));
        expect(indexPatterns(all)(at)).toEqual(alone);
      }),
    );
  });

  test('a path with its characters escaped is a pattern of itself alone', () => {
    const anyName = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 6 })
      .filter((each) => !each.includes('/'));
    const anyPath = fc.array(anyName, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
    const asPattern = (text: string) => `/${text.replaceAll(/[\\*?[\]]/g, '\\$&')}`;
    fc.assert(
      fc.property(anyPath, anyPath, (one, other) => {
        expect(fits(asPattern(one), one)).toBe(true);
        expect(fits(asPattern(one), other)).toBe(one === other);
      }),
    );
  });
});

describe('hostile patterns end', () => {
  const long = 'a'.repeat(4_000);

  test.each([
    ['many stars', `${'*a'.repeat(500_000)}`, long],
    ['many stars that fit', `${'*a'.repeat(1_000)}*b`, long],
    ['many folders', '**/a/'.repeat(20_000), 'a/'.repeat(2_000).slice(0, -1)],
    ['classes that do not end', '['.repeat(1_000_000), '['.repeat(4_000)],
    ['classes with escapes', '[\\]'.repeat(300_000), long],
    ['a class of everything', `[${'a-z'.repeat(300_000)}]b`, 'ab'],
  ])('%s', (_, pattern, path) => {
    expect(fits(pattern, path)).toBe(pattern.endsWith(']b'));
  });

  test('and so do many of them', () => {
    const patterns = Array.from({ length: 5_000 }, (_, at) => `*${at}*/**/${at}/`);
    const find = indexPatterns(patterns);
    expect(find(`${long}/${long}`)).toEqual([]);
    expect(find('x4999y/z/4999/file')).toEqual([4_999]);
  });
});

describe('steps are counted', () => {
  const all = (count: number, of: (at: number) => string) => Array.from({ length: count }, (_, at) => of(at));
  const needs = (patterns: readonly string[], path: string): number => {
    const index = createPatternIndex();
    for (const [place, pattern] of patterns.entries()) index.add(pattern, place);
    const steps = { left: Number.MAX_SAFE_INTEGER };
    index.find(path, steps);
    return Number.MAX_SAFE_INTEGER - steps.left;
  };

  test.each([
    ['names are looked up', all(10_000, (at) => `/docs/${at}/`), 'docs/9999/a', 100],
    ['a prefix that is shared is one', all(10_000, (at) => `/a*/b*/${at}`), 'ax/bx/7', 100],
    ['wildcards are each looked at', all(10_000, (at) => `/*${at}`), 'x', 100_000],
    ['a star takes the product of both lengths', ['*a*a*a*b'], 'a'.repeat(1_000), 10_000],
  ])('%s', (_, patterns, path, most) => {
    expect(needs(patterns, path)).toBeLessThan(most);
  });

  test.each([
    ['wildcards', all(10_000, (at) => `/*${at}`), 'x'],
    ['stars', ['*a*a*a*b'], 'a'.repeat(5_000)],
    ['ranges', [`[${'a-z'.repeat(5_000)}]`], '-'],
    ['folders', all(2_000, (at) => `${'**/a/'.repeat(at)}x`), 'a/'.repeat(2_000)],
    ['a long path', ['x'], 'a'.repeat(5_000)],
  ])('and when none is left, nothing is found: %s', (_, patterns, path) => {
    const find = indexPatterns([...patterns, '**']);
    expect(find(path)).toContain(patterns.length);
    expect(find(path, 5_000)).toBe(undefined);
  });
});
