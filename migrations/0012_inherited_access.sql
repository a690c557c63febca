-- A bot that rotated its own token named itself as the one who made it: the person who holds the token is who made the bot.
update access_tokens t set created_by_id = u.created_by_id
from users u
where u.id = t.user_id and u.kind in ('project_bot', 'group_bot')
  and t.created_by_id = t.user_id and u.created_by_id is not null;

-- Bots see no more than the person who holds their token: those of external users are external.
update users b set external = true, updated_at = now()
where b.kind in ('project_bot', 'group_bot') and not b.external and exists (
  select from access_tokens t join users m on m.id = t.created_by_id
  where t.user_id = b.id and t.revoked_at is null and m.external);

create index access_tokens_bot_holder on access_tokens (created_by_id) where kind in ('project', 'group');

-- A password alone gives no powers of administrators any more; what it gave before ends.
with ended as (
  update oauth_grants set revoked_at = now()
  where application_id is null and revoked_at is null
    and scopes && array['sudo', 'admin_mode', 'read_service_ping']
  returning id)
update access_tokens t set revoked_at = now(), updated_at = now()
from ended where t.grant_id = ended.id and t.revoked_at is null;
