/** Code owners files: their grammar, and who owns what. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CodeOwner, entriesOwning, parseCodeOwners } from './code-owners.ts';

const wordOf = (owner: CodeOwner): string =>
  owner.kind === 'role' ? `role ${owner.role}` : owner.kind === 'path' ? `@${owner.path}` : owner.email;

/** `section: pattern owners` of all that own a path; behind a `?` what needs none, with the count where it is not 1. */
const owning = async (text: string, ...paths: string[]): Promise<string[] | undefined> =>
  (await entriesOwning(await parseCodeOwners(text), paths))?.map(
    ({ section, pattern, owners, approvalsRequired, isOptional }) =>
      [
        `${isOptional ? '?' : ''}${section}${approvalsRequired === 1 ? '' : ` ${approvalsRequired}`}:`,
        pattern,
        ...owners.map(wordOf),
      ].join(' '),
  );

describe('entries', () => {
  test.each([
    ['', []],
    ['# *.md @a', []],
    ['  # *.md @a', []],
    ['*.md @a @b/c', ['codeowners: *.md @a @b/c']],
    ['*.md\t@a\r\n', ['codeowners: *.md @a']],
    ['\uFEFF*.md @a', ['codeowners: *.md @a']],
    ['*.md @a # a comment is none @b', ['codeowners: *.md @a @b']],
    ['*.md x@example.com x', ['codeowners: *.md x@example.com']],
    ['*.md @@developer @@Maintainers @@owners @@guest', ['codeowners: *.md role 30 role 40 role 50']],
    ['*.md @a.b-c_d @-x @/y @ @@ @a@b', ['codeowners: *.md @a.b-c_d']],
    ['*.md', ['codeowners: *.md']],
    ['a.md @a\n*.md @b', ['codeowners: *.md @b']],
    ['*.md @a\na.md @b', ['codeowners: a.md @b']],
    ['*.md @a\na.md @b\n*.md @c', ['codeowners: *.md @c']],
    ['*.md @a\nb.md @b', ['codeowners: *.md @a']],
    ['*.md @a\na.md', ['codeowners: a.md']],
  ])('%j', async (text, expected) => {
    expect(await owning(text, 'a.md')).toEqual(expected);
  });

  test.each([
    ['a\\ b.md @a', 'a b.md', ['codeowners: a\\ b.md @a']],
    ['\\#a @a', '#a', ['codeowners: \\#a @a']],
    ['\\!a @a', '!a', ['codeowners: \\!a @a']],
    ['a\\ ', 'a ', ['codeowners: a\\ ']],
    ['a\\', 'a\\', ['codeowners: a\\']],
    ['[ab].md @a', 'a.md', ['codeowners: [ab].md @a']],
  ])('%j owns %j', async (text, path, expected) => {
    expect(await owning(text, path)).toEqual(expected);
  });
});

describe('sections', () => {
  test.each([
    ['are independent', '*.md @a\n[Docs]\n*.md @b', ['codeowners: *.md @a', 'Docs: *.md @b']],
    ['have defaults', '[Docs] @a @b\n*.md', ['Docs: *.md @a @b']],
    ['have defaults right behind the name', '[Docs]@a\n*.md', ['Docs: *.md @a']],
    ['have defaults that an entry replaces', '[Docs] @a\n*.md @b', ['Docs: *.md @b']],
    ['have defaults that words replace which name nobody', '[Docs] @a\n*.md nobody', ['Docs: *.md']],
    ['end with the next', '[Docs] @a\n[More]\n*.md', ['More: *.md']],
    ['need approvals', '[Docs][2] @a\n*.md', ['Docs 2: *.md @a']],
    ['need one, not none', '[Docs][0] @a\n*.md', ['Docs: *.md @a']],
    ['need one, not less', '[Docs][-2] @a\n*.md', ['Docs: *.md @a']],
    ['need one, not a word', '[Docs][x] @a\n*.md', ['Docs: *.md @a']],
    ['need one, not nothing', '[Docs][] @a\n*.md', ['Docs: *.md @a']],
    ['are optional', '^[Docs] @a\n*.md', ['?Docs: *.md @a']],
    ['are optional with a count', '^[Docs][3] @a\n*.md', ['?Docs 3: *.md @a']],
    ['have names with spaces', '[ The docs ] @a\n*.md', ['The docs: *.md @a']],
    ['are one by any case', '[Docs] @a\n*.md\n[DOCS] @b\n*.md', ['Docs: *.md @b']],
    ['are needed if once they are', '^[Docs] @a\n*.md\n[docs]', ['Docs: *.md @a']],
    ['have the count of their heading', '[Docs][2]\na.md @a\n[docs]\n*.md @b', ['Docs: *.md @b']],
    ['may be the unnamed one', '*.md @a\n[CodeOwners]\n*.md @b', ['codeowners: *.md @b']],
    ['need an end', '[Docs @a\n*.md @b', ['codeowners: *.md @b']],
    ['need a name', '[Docs] @a\n[ ] @b\n*.md', ['Docs: *.md @a']],
    ['are no class of characters', '[Docs] @a\n[ab].md @b', ['Docs: [ab].md @b']],
    ['are not behind a pattern', '[Docs] @a\n*.md [More]', ['Docs: *.md']],
  ])('%s', async (_, text, expected) => {
    expect(await owning(text, 'a.md')).toEqual(expected);
  });
});

describe('exclusions', () => {
  test.each([
    ['take out', '*.md @a\n!a.md', []],
    ['take out for good', '*.md @a\n!a.md\na.md @b', []],
    ['take out what comes later', '!a.md\n*.md @a', []],
    ['take nothing else out', '*.md @a\n!b.md', ['codeowners: *.md @a']],
    ['take out in their section', '*.md @a\n[Docs]\n*.md @b\n!a.md', ['codeowners: *.md @a']],
    ['take out in the whole of it', '[A]\n*.md @a\n[B]\n*.md @b\n[a]\n!a.md', ['B: *.md @b']],
    ['own nothing', '!a.md @a', []],
    ['name something', '*.md @a\n!\n! @b', ['codeowners: *.md @a']],
  ])('%s', async (_, text, expected) => {
    expect(await owning(text, 'a.md')).toEqual(expected);
  });
});

test('the entries of all paths are told once, in the order of the file', async () => {
  const text = '*.rb @a\n/docs/ @b\n[Docs][2] @c\n*.md\ndocs/ @d';
  expect(await owning(text, 'docs/a.md', 'a.rb', 'x', 'docs/b.md', 'c.md')).toEqual([
    'codeowners: *.rb @a',
    'codeowners: /docs/ @b',
    'Docs 2: *.md @c',
    'Docs 2: docs/ @d',
  ]);
});

describe('properties', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcXY.-_'), minLength: 1, maxLength: 8 });
  const owners = fc.array(
    word.filter((each) => /^[\w.]/.test(each)),
    { maxLength: 3 },
  );
  const pattern = fc
    .array(
      word.filter((each) => !each.startsWith('#')),
      { minLength: 1, maxLength: 3 },
    )
    .map((names) => names.join('/'));
  const section = fc.record({
    name: word,
    optional: fc.boolean(),
    count: fc.integer({ min: 1, max: 9 }),
    entries: fc.array(fc.record({ pattern, owners }), { minLength: 1, maxLength: 4 }),
  });
  const line = (first: string, names: readonly string[]) =>
    [first, ...names.map((name) => `@${name}`)].join(' ');

  test('what is written as a file is read as it was', async () => {
    const sections = fc.uniqueArray(section, { selector: ({ name }) => name.toLowerCase(), maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(sections, async (all) => {
        const text = all
          .flatMap(({ name, optional, count, entries }) => [
            `${optional ? '^' : ''}[${name}][${count}]`,
            ...entries.map((entry) => line(entry.pattern, entry.owners)),
          ])
          .join('\n');
        const read = await parseCodeOwners(text);
        expect(read.lines).toEqual(
          all.flatMap(({ name, count, entries }) =>
            entries.map((entry) => ({
              section: name,
              pattern: entry.pattern,
              owners: entry.owners.map((path) => ({ kind: 'path', path })),
              approvalsRequired: count,
              isExclusion: false,
            })),
          ),
        );
        expect([...read.required]).toEqual(all.filter((each) => !each.optional).map(({ name }) => name));
      }),
    );
  });

  test('any text is a file, and what owns a path is in it', async () => {
    const anything = fc.string({ unit: fc.constantFrom(...'ab[]^!#@*?\\/ \n1'), maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(anything, fc.constantFrom('a', 'b/a', '[a]', 'a b'), async (text, path) => {
        const entries = (await entriesOwning(await parseCodeOwners(text), [path])) ?? [];
        for (const entry of entries) {
          expect(text).toContain(entry.pattern);
          expect(entry.approvalsRequired).toBeGreaterThan(0);
        }
        expect(new Set(entries.map((entry) => entry.section)).size).toBe(entries.length);
      }),
      { numRuns: 1_000 },
    );
  });
});

test.each([
  ['headings', '['.repeat(1_000_000)],
  ['headings that end', '[]'.repeat(500_000)],
  ['spaces', `a${' '.repeat(1_000_000)}@b`],
  ['escapes', '\\ '.repeat(500_000)],
  ['owners', `* ${'@a '.repeat(300_000)}`],
  ['addresses', `* ${'@'.repeat(1_000_000)}`],
  ['lines', 'a\n'.repeat(100_000)],
  ['sections', Array.from({ length: 20_000 }, (_, at) => `[${at}]\n*`).join('\n')],
])('a file of %s is read', async (kind, text) => {
  const entries = await entriesOwning(await parseCodeOwners(text), ['a']);
  expect(entries?.length).toBe(kind === 'sections' ? 20_000 : /headings|escapes/.test(kind) ? 0 : 1);
});

const many = (count: number, of: (at: number) => string) => Array.from({ length: count }, (_, at) => of(at));

test.each([
  // the file, the paths, whether their owners are found
  [
    'many patterns of names',
    many(20_000, (at) => `/docs/${at}/ @a`),
    many(5_000, (at) => `docs/${at}/x`),
    true,
  ],
  ['wildcards for many paths', many(1_000, (at) => `*.${at} @a`), many(1_000, (at) => `x/${at}.rb`), true],
  ['many wildcards for many paths', many(20_000, (at) => `*.${at} @a`), many(1_000, (at) => `${at}`), false],
  ['stars for a long name', many(1_000, (at) => `${'*a'.repeat(100)}*b${at}`), ['a'.repeat(4_000)], false],
  ['deep patterns', many(500, (at) => `${'**/a/'.repeat(at)}x @a`), ['a/'.repeat(2_000)], false],
  ['entries that all own a path', many(400, (at) => `[${at}]\n**`), many(60_000, String), false],
])('whose file is %s', async (_, lines, paths, isFound) => {
  const entries = await entriesOwning(await parseCodeOwners(lines.join('\n')), paths);
  expect(entries !== undefined).toBe(isFound);
});

test('the first owners of an entry are asked', async () => {
  const [entry] = (await entriesOwning(await parseCodeOwners(`* ${'@a '.repeat(300)}`), ['x'])) ?? [];
  expect(entry?.owners).toHaveLength(100);
});
