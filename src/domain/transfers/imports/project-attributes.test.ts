/** What is taken of project.json, and of the request in its place. */
import { expect, test } from 'vitest';
import { projectAttributes } from './project-attributes.ts';

const nothing = {
  description: null,
  visibility: 0,
  archived: false,
  topics: [],
  branch: undefined,
  settings: {},
};

test.each<[what: string, given: Record<string, unknown>, taken: Record<string, unknown>]>([
  ['nothing', {}, {}],
  ['a description', { description: 'Stones' }, { description: 'Stones' }],
  ['a description that is none', { description: ['x'] }, {}],
  ['a description with NUL', { description: 'a\u0000' }, {}],
  ['a description that is too long', { description: 'a'.repeat(2_001) }, {}],
  ['visibility', { visibility_level: 10 }, { visibility: 10 }],
  ['more than may be', { visibility_level: 20 }, { visibility: 10 }],
  ['a level that is none', { visibility_level: 15 }, {}],
  ['topics', { topics: ['a', 1, '', 'b\nc', 'd'] }, { topics: ['a', 'd'] }],
  ['topics that are a text', { topics: 'a,b' }, {}],
  ['a setting', { merge_method: 'ff' }, { settings: { merge_method: 'ff' } }],
  ['a setting of no such value', { merge_method: 'none', emails_enabled: 'maybe' }, {}],
  [
    'settings that cannot be stored',
    { issues_template: 'a\u0000', suggestion_commit_message: '\ud800', merge_commit_template: '😀' },
    { settings: { merge_commit_template: '😀' } },
  ],
  ['what administrators set', { max_artifacts_size: 3 }, {}],
  ['what is no setting', { id: 7, namespace_id: 7, creator_id: 7, runners_token: 'x' }, {}],
  ['what objects inherit', { constructor: 'x', __proto__: { merge_method: 'ff' } }, {}],
])('%s', (_what, given, taken) => {
  expect(projectAttributes(given, { mostVisible: 10 })).toEqual({ ...nothing, ...taken });
});

test.each<[what: string, override: Record<string, unknown>, taken: Record<string, unknown>]>([
  [
    'texts of a form',
    { emails_enabled: 'false', merge_method: 'ff' },
    { settings: { emails_enabled: false, merge_method: 'ff' } },
  ],
  ['visibility by its name', { visibility: 'internal' }, { visibility: 10 }],
  ['no more than may be', { visibility: 'public' }, { visibility: 10 }],
])('the request has the last word: %s', (_what, override, taken) => {
  const given = { merge_method: 'merge', visibility_level: 0 };
  const own = override.merge_method === undefined ? { settings: { merge_method: 'merge' } } : {};
  expect(projectAttributes(given, { override, mostVisible: 10 })).toEqual({ ...nothing, ...own, ...taken });
});
