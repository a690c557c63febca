-- Events of which only an outline is kept: they came when many of their error did.
alter table error_events add column abridged boolean not null default false;

-- Both come packed: to try to pack them again costs more than all the rest of writing them.
alter table error_events alter column payload set storage external;
alter table error_spool alter column body set storage external;
