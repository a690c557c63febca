-- Projects whose old files of packages go.
create index projects_packages_cleanup on projects (
    ((settings -> 'packages_cleanup_policy' ->> 'next_run_at') collate "C"), id)
  where (settings -> 'packages_cleanup_policy' ->> 'next_run_at') is not null;
