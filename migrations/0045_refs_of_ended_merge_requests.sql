-- Whether the refs that git fetches an ended merge request by are gone.
alter table merge_requests add column refs_removed boolean not null default false;
create index merge_requests_ended on merge_requests (id) where state in ('closed', 'merged') and not refs_removed;
