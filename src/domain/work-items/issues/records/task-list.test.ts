/** Tasks in descriptions, counted. */
import { expect, test } from 'vitest';
import { countTasks, taskStatus } from './task-list.ts';

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

test('the status says it in words', () => {
  expect(taskStatus({ count: 2, completed_count: 1 })).toBe('1 of 2 checklist items completed');
  expect(taskStatus({ count: 1, completed_count: 0 })).toBe('0 of 1 checklist item completed');
});
