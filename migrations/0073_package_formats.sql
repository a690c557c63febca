-- The case of letters does not tell NuGet packages apart.
create unique index packages_nuget on packages (project_id, lower(name), lower(version)) where package_type = 'nuget';
