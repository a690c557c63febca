/** Topics as records. */

import { ORGANIZATION_ID } from '../../../kernel/namespaces/group-records.ts';
import { type Surroundings, uploadUrl } from '../../../kernel/users/records.ts';
import type { TopicRow } from './queries.ts';
import type { TopicRecord } from './schema.ts';

export const presentTopic = (around: Surroundings, row: TopicRow): TopicRecord => ({
  id: row.id,
  name: row.name,
  title: row.title,
  description: row.description,
  total_projects_count: -row.public_projects_rank,
  organization_id: ORGANIZATION_ID,
  avatar_url: uploadUrl(around, 'projects/topic', row.id, row.avatar) ?? null,
});
