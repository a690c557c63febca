/** An application of the instance for each user, by the user's name. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: () => `
    insert into oauth_applications (uid, name, redirect_uris, scopes, confidential, created_by_id, created_at, updated_at)
      select username, username, array['https://client.example/'], array['api'], true, id, now(), now() from person order by id`,
  guardedRows: ({ group }) => `
    insert into oauth_applications (uid, name, redirect_uris, scopes, confidential, user_id, namespace_id, created_at, updated_at)
      select 'of-' || username, 'own', array['https://client.example/'], array['api'], true, id, null::bigint, now(), now()
        from person where username = 'person-1'
      union all
      select 'of-group', 'own', array['https://client.example/'], array['api'], true, null, ${group}, now(), now()`,
  objects: { 'applications/:id': 'oauth_applications' },
  requests: () => ({ 'POST /applications': { with: { scopes: 'api' } } }),
};
