/** Titles that make drafts, and titles that only look so. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asDraft, draftingCommit, isDraft, withoutDraft } from './draft.ts';

describe('a draft', () => {
  test.each<[title: string, ready: string]>([
    ['Draft: Title', 'Title'],
    ['draft:Title', 'Title'],
    ['DRAFT:   Title', 'Title'],
    ['[Draft] Title', 'Title'],
    ['[draft]Title', 'Title'],
    ['(DRAFT) Title', 'Title'],
    ['Draft: Draft: Title', 'Title'],
    ['Draft:[draft] (Draft)\tTitle', 'Title'],
    ['Draft: Title Draft: two', 'Title Draft: two'],
    ['Draft:', ''],
    ['Draft: draft', 'draft'],
  ])('%j is ready as %j', (title, ready) => {
    expect(isDraft(title)).toBe(true);
    expect(withoutDraft(title)).toBe(ready);
    expect(asDraft(title)).toBe(title);
  });

  test.each([
    'Title',
    'Draft',
    'Draft - Title',
    'Drafts: Title',
    'Redraft: Title',
    ' Draft: Title',
    'Title Draft: two',
    'WIP: Title',
    '[WIP] Title',
    '[draft Title',
    '{draft} Title',
    '',
  ])('%j is none, and becomes one', (title) => {
    expect(isDraft(title)).toBe(false);
    expect(withoutDraft(title)).toBe(title);
    expect(asDraft(title)).toBe(`Draft: ${title}`);
  });

  test('of any title is a draft, and ready without its prefixes', () => {
    const part = fc.constantFrom('Draft:', '[draft]', '(DRAFT)', ' ', 'title', 'draft', '[', ':');
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const title = parts.join('');
        expect(isDraft(asDraft(title))).toBe(true);
        expect(isDraft(withoutDraft(title))).toBe(false);
        expect(title.endsWith(withoutDraft(asDraft(title)))).toBe(true);
      }),
    );
  });

  test('of a million prefixes is read in no time', () => {
    expect(withoutDraft('draft:'.repeat(1_000_000))).toBe('');
  });
});

describe('commits', () => {
  const commits = (...messages: string[]) => messages.map((message) => ({ message }));

  test.each<[messages: string[], drafting: string | undefined]>([
    [['One', 'draft: two', '[Draft] three'], 'draft: two'],
    [['(draft) one\n\nbody'], '(draft) one\n\nbody'],
    [['\n Draft: one'], '\n Draft: one'],
    [['One\n\nDraft: two', 'fixup! One', 'WIP: three'], undefined],
    [[], undefined],
  ])('of %j, %j makes a draft', (messages, drafting) => {
    expect(draftingCommit(commits(...messages))?.message).toBe(drafting);
  });
});
