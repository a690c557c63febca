-- Hooks hear some days before the token of a project or group expires: the least number of days of which they have heard.
alter table access_tokens add column expiry_announced smallint;
create index access_tokens_expiring on access_tokens (expires_at)
  where kind in ('project', 'group') and revoked_at is null;
