/** A topic for each user, by the user's name. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: () => `
    insert into topics (name, title, created_at, updated_at)
      select username, username, now(), now() from person order by id`,
  objects: { 'topics/:id': 'topics' },
  // All may see all topics.
  fields: { topic_id: null, source_topic_id: null, target_topic_id: null, organization_id: null },
  requests: () => ({
    'PUT /topics/:id': { with: { title: 'New' } },
    'POST /topics/merge': { with: { source_topic_id: 1, target_topic_id: 2 } },
  }),
};
