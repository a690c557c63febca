-- Which programs are at work, for those who look after them.
alter table processes
  add column started_at timestamptz(3) not null default now(),
  add column host text not null default '',
  add column pid integer not null default 0;
