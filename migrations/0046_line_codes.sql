-- How the public API names the line of a diff that a note on a merge request is on.
alter table notes add column line_code text collate "C";
update notes set line_code = position #>> '{line_range,end,line_code}'
  where merge_request_id is not null and position #>> '{line_range,end,line_code}' is not null;
