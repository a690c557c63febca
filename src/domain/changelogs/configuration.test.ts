/** Configuration files of changelogs. */
import { expect, test } from 'vitest';
import { readConfiguration } from './configuration.ts';
import { renderTemplate } from './template.ts';

test('a file, with all that it can say', async () => {
  const read = await readConfiguration(`---
date_format: '%d'
categories:
  feature: Features
  on: Switches
tag_regex: '^version-(?P<major>\\d+)$'
include_groups: [a/b, c]
template: |
  {% each categories %}
  {{ title }}
  {% end %}
`);
  expect(read).toMatchObject({
    dateFormat: '%d',
    tagPattern: '^version-(?P<major>\\d+)$',
    creditedGroups: ['a/b', 'c'],
  });
  expect([...read.categories]).toEqual([
    ['feature', 'Features'],
    ['on', 'Switches'],
  ]);
  expect(renderTemplate(read.template, { categories: [{ title: 'x' }] })).toBe('x\n');
});

test.each([undefined, '', '---\n', 'template:\n'])('%j is the usual one', async (text) => {
  const read = await readConfiguration(text);
  expect(read).toMatchObject({ dateFormat: '%Y-%m-%d', tagPattern: undefined, creditedGroups: [] });
  expect(renderTemplate(read.template, {})).toBe('No changes.\n');
});

test.each([
  ['- a', 'names with values'],
  ['template: [a]', 'template must be a text'],
  ['template: "{% if"', 'not closed'],
  ['categories: [a]', 'names with titles'],
  ['categories: {a: [b]}', 'names with titles'],
  ['include_groups: a', 'full paths of groups'],
  [`date_format: "${'%B'.repeat(128)}"`, 'more than 255 characters'],
  [`include_groups: [${'a,'.repeat(21)}]`, 'at most 20'],
  ['a: [', 'Flow sequence'],
  ['['.repeat(1000), 'too big'],
])('%j is refused', async (text, problem) => {
  await expect(readConfiguration(text)).rejects.toThrow(problem);
});
