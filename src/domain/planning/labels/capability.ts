/** Labels of projects and groups: made, changed, promoted and subscribed to. */
import type { Capability } from '../../../kernel/capability.ts';
import { referenceDefinitions } from '../../markdown/index.ts';
import { labelReferences } from './references.ts';
import { labelEndpoints } from './routes.ts';

export const labelsCapability = (): Capability => ({
  name: 'labels',
  endpoints: labelEndpoints,
  registrations: [referenceDefinitions.add(labelReferences)],
  // They go with their project or group, by foreign key; the conversation capability removes a user's subscriptions.
  tables: ['labels', 'label_links', 'label_priorities'],
  unique: { labels_project_name: { property: 'title' }, labels_group_name: { property: 'title' } },
});
