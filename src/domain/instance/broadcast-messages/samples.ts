/** A message by each user. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: () => `
    insert into broadcast_messages (message, starts_at, ends_at, color, font, target_access_levels, broadcast_type, theme,
        dismissable, created_at, updated_at)
      select 'Message of ' || username, now() - interval '2 hours', now() - interval '1 hour', '#E75E40', '#FFFFFF', '{10}',
        'banner', 'indigo', true, now(), now() from person order by id`,
  objects: { 'broadcast_messages/:id': 'broadcast_messages' },
  requests: () => ({ 'POST /broadcast_messages': { with: { message: 'Hello' } } }),
};
