/** Changes of the states and labels of epics. */
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { type EventResource, resourceEventEndpoints } from '../resource-events/event-routes.ts';
import { plainPath } from './paths.ts';
import { findEpic } from './records/find-queries.ts';

const epicEvents: EventResource<AuthorizedGroup> = {
  path: `${plainPath}/:eventable_id`,
  noun: 'an epic',
  column: 'epic_id',
  tier: 'premium',
  read: onGroup('read_epics'),
  find: ({ db, actor, subject }, iid) => findEpic(db, subject, actor, iid),
};

export const epicEventEndpoints = resourceEventEndpoints(epicEvents, ['label', 'state']);
