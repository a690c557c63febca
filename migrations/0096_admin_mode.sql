-- Since when a session has been in admin mode.
alter table sessions add column admin_mode_at timestamptz(3);
-- Whether a transfer was asked for in admin mode: what it does later goes by these rights.
alter table bulk_imports add column admin_mode boolean not null default false;
