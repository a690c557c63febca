-- Topics of projects. A project keeps the names, as its records show them; a topic says what else is known of a name.
create table topics (
  id bigint generated always as identity primary key,
  name text not null,
  title text not null,
  description text,
  avatar text,
  -- Public projects that have the topic, negative so that one ascending index has the most used ones first. By a trigger.
  public_projects_rank integer not null default 0,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index topics_name on topics (lower(name));
create index topics_rank on topics (public_projects_rank, id);
create index topics_search on topics using gin (name gin_trgm_ops, title gin_trgm_ops);

-- What projects were given until now becomes topics, each in its first spelling.
update projects set topics = array(
  select trim(name) from unnest(topics) with ordinality as given (name, place) where trim(name) <> '' order by place)
  where topics <> '{}';
insert into topics (name, title, created_at, updated_at)
  select distinct on (lower(given)) given, given, now(), now()
  from projects, unnest(topics) as given order by lower(given), projects.id;
update projects set topics = array(
  select t.name from unnest(projects.topics) with ordinality as given (name, place) join topics t on lower(t.name) = lower(given.name)
  group by t.name order by min(given.place))
  where topics <> '{}';
update topics set public_projects_rank = -(
  select count(*) from projects where visibility = 20 and not deleting and topics.name = any(projects.topics));

create function count_topics() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.visibility = 20 and not old.deleting then
    update topics set public_projects_rank = public_projects_rank + 1
      where lower(name) in (select lower(old_name) from unnest(old.topics) as old_name);
  end if;
  if tg_op <> 'DELETE' and new.visibility = 20 and not new.deleting then
    update topics set public_projects_rank = public_projects_rank - 1
      where lower(name) in (select lower(new_name) from unnest(new.topics) as new_name);
  end if;
  return null;
end $$;
create trigger projects_topics_added after insert on projects for each row
  when (new.topics <> '{}') execute function count_topics();
create trigger projects_topics_changed after update on projects for each row
  when ((old.topics <> '{}' or new.topics <> '{}')
    and (old.topics <> new.topics or old.visibility <> new.visibility or old.deleting <> new.deleting))
  execute function count_topics();
create trigger projects_topics_removed after delete on projects for each row
  when (old.topics <> '{}') execute function count_topics();
