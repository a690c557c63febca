-- What tells packages of one name and version apart: of Conan, their user and channel.
alter table packages add column qualifier text collate "C" not null default '';
drop index packages_version;
create unique index packages_version on packages (project_id, package_type, name, version, qualifier) nulls not distinct;

-- Revisions of Conan are what its files say: of a recipe, and of the packages that are made by it.
create index package_files_conan on package_files (package_id, (metadata ->> 'reference'), (metadata ->> 'recipe_revision'),
  (metadata ->> 'package_revision'), file_name) where metadata ->> 'recipe_revision' is not null;
