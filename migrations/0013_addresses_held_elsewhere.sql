-- A user may list an address that another holds, unconfirmed for good: a refusal would tell that an account has it.
alter table emails add column held_elsewhere boolean not null default false;
drop index emails_email;
drop index emails_user;
create index emails_email on emails (lower(email) collate "C");
create unique index emails_holder on emails (lower(email) collate "C") where not held_elsewhere;
create unique index emails_own on emails (user_id, lower(email) collate "C");
