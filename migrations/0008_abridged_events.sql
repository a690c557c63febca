-- Events of which only an outline is kept: they came when many of their error did.
alter table error_events add column abridged boolean not null default false;
