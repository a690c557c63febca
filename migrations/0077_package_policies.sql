-- Projects whose old files of packages go.
create index projects_packages_cleanup on projects (
    ((settings -> 'packages_cleanup_policy' ->> 'next_run_at') collate "C"), id)
  where (settings -> 'packages_cleanup_policy' ->> 'next_run_at') is not null;

-- Everybody may ask whether a group has one of those whose packages are open to everybody.
create index projects_public_packages on projects (namespace_id)
  where (settings ->> 'package_registry_access_level') = 'public';
