/** Tasks in descriptions, counted. */
import { expect, test } from 'vitest';
import { countTasks, taskStatus, toggledTasks } from './task-list.ts';

test.each([
  [null, 0, 0],
  ['', 0, 0],
  ['no [ ] task', 0, 0],
  ['- [ ] one\n- [x] two\n* [X] three', 3, 2],
  ['1. [ ] one\n2) [x] two\n+ [ ] three', 3, 1],
  ['- [ ] one\r\n- [x] two\r\n', 2, 1],
  ['  - [ ] nested\n> - [x] quoted', 2, 1],
  ['- [~] dropped\n- [ ]nothing behind\n- [ ]', 0, 0],
  ['```\n- [ ] code\n```\n- [x] text', 1, 1],
  ['~~~~\n- [ ] code\n~~~\n- [ ] code still\n~~~~\n- [ ] text', 1, 0],
])('%j has %i tasks, %i of them checked', (markdown, count, completed_count) => {
  expect(countTasks(markdown)).toEqual({ count, completed_count });
});

const LIST = '- [ ] one\n- [x] two';

test.each<[from: string | null, to: string | null, toggled: [text: string, completed: boolean][]]>([
  [
    LIST,
    '- [x] one\n- [ ] two',
    [
      ['one', true],
      ['two', false],
    ],
  ],
  [LIST, '* [X]  one \nmore text\n- [x] two', [['one', true]]],
  [LIST, LIST, []],
  [LIST, '- [x] other\n- [x] two', []],
  [LIST, '- [x] new\n- [ ] one\n- [x] two', []],
  [LIST, null, []],
  [null, LIST, []],
  ['text', '- [x] one', []],
])('of %j and %j the toggled tasks are %j', (from, to, toggled) => {
  expect(toggledTasks(from, to).map(({ text, completed }) => [text, completed])).toEqual(toggled);
});

test('the status says it in words', () => {
  expect(taskStatus({ count: 2, completed_count: 1 })).toBe('1 of 2 checklist items completed');
  expect(taskStatus({ count: 1, completed_count: 0 })).toBe('0 of 1 checklist item completed');
});
