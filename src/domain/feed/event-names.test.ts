/** Public names of events (facts: Activity events). */
import { expect, test } from 'vitest';
import { actionName } from './event-records.ts';

const wikiPages = { type: 'WikiPage::Meta', actionNames: { created: 'created', updated: 'updated' } };

test.each([
  ['pushed', null, { push_data: { action: 'created' } }, 'pushed new'],
  ['pushed', null, { push_data: { action: 'removed' } }, 'deleted'],
  ['pushed', null, { push_data: { action: 'pushed' } }, 'pushed to'],
  ['pushed', null, null, 'pushed to'],
  ['closed', 'Issue', null, 'closed'],
  ['closed', 'Milestone', null, 'closed'],
  ['joined', null, null, 'joined'],
  ['left', null, null, 'left'],
  ['expired', null, null, 'removed due to membership expiration from'],
  ['destroyed', 'Milestone', null, 'destroyed'],
  ['destroyed', 'WikiPage::Meta', null, 'destroyed'],
  ['commented', 'Note', null, 'commented on'],
  ['created', null, null, 'created'],
  ['created', 'WikiPage::Meta', null, 'created'],
  ['updated', 'WikiPage::Meta', null, 'updated'],
  ['created', 'Issue', null, 'opened'],
  ['created', 'Milestone', null, 'opened'],
  ['reopened', 'Issue', null, 'opened'],
  ['reopened', 'Milestone', null, 'opened'],
])('%s of %s %o is "%s"', (action, target_type, details, name) => {
  expect(actionName([wikiPages], { action, target_type, details })).toBe(name);
});
