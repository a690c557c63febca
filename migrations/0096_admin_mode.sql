-- Since when a session has been in admin mode.
alter table sessions add column admin_mode_at timestamptz(3);
