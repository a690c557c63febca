import { expect, test } from 'vitest';
import { checkList, tidyIds } from './rules.ts';

test.each([
  ['ada, wren,ada,,', 'ada,wren'],
  ['', ''],
  [' , ', ''],
  ['x', 'x'],
])('ids of %j', (text, ids) => {
  expect(tidyIds(text)).toBe(ids);
});

const long = 'user_xids must be a string of unique comma separated values each 256 characters or less';

test.each([
  [{ name: 'Masons', user_xids: 'ada' }, {}],
  [{ name: ' ', user_xids: 'ada' }, { name: ["can't be blank"] }],
  [{ name: 'Masons', user_xids: '' }, { user_xids: ["can't be blank"] }],
  [{ name: 'Masons', user_xids: `ada,${'x'.repeat(256)}` }, {}],
  [{ name: 'Masons', user_xids: `ada,${'x'.repeat(257)}` }, { user_xids: [long] }],
])('%j', (list, problems) => {
  expect(checkList(list)).toEqual(problems);
});
