/** SSH and GPG keys of root, one for each user. */
import { gpgKey } from '../../../../test/support/sample-keys.ts';
import type { Samples } from '../../../../test/support/samples.ts';
import { seal } from '../../../platform/secret.ts';

const gpg = { with: { key: gpgKey.key } };

export const samples: Samples = {
  rows: ({ user }, { app }) => `
    insert into ssh_keys (user_id, title, key, fingerprint, fingerprint_sha256, usage_type, created_at, updated_at)
      select ${user}, username, 'ssh-ed25519 AAAA' || id, 'md5-' || id, 'sha256-' || id, 'auth', now(), now() from person order by id;
    insert into gpg_keys (user_id, key, fingerprint, created_at, updated_at)
      select ${user}, 'key ' || id, 'fingerprint-' || id, now(), now() from person order by id;
    insert into support_pins (user_id, pin_sealed, expires_at)
      select id, '${seal(app.services.secretKey, '012345')}', now() + interval '1 day' from users`,
  guardedRows: () => `
    insert into support_pins (user_id, pin_sealed, expires_at)
      select u.id, p.pin_sealed, p.expires_at from users u, (select * from support_pins limit 1) p
      on conflict do nothing`,
  objects: { 'keys/:id': 'ssh_keys', 'keys/:key_id': 'ssh_keys', 'gpg_keys/:key_id': 'gpg_keys' },
  requests: ({ userId }) => ({
    'GET /keys': { with: { fingerprint: `md5-${userId('person-1')}` } },
    'POST /user/gpg_keys': gpg,
    'POST /users/:id/gpg_keys': gpg,
  }),
};
