/** Protected branches and tags, which each user may push to. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into protected_branches (project_id, name, created_at, updated_at)
      select ${project}, 'guarded-' || username, now(), now() from person order by id;
    insert into protected_tags (project_id, name, created_at, updated_at)
      select ${project}, 'guarded-' || username, now(), now() from person order by id;
    insert into protected_ref_access (protected_branch_id, protected_tag_id, action, user_id, created_at)
      select b.id, null::bigint, action, p.id, now() from protected_branches b
      join person p on b.name = 'guarded-' || p.username, (values ('push'), ('merge')) x(action)
      union all
      select null, t.id, 'create', p.id, now() from protected_tags t join person p on t.name = 'guarded-' || p.username`,
  guardedRows: ({ project }) => `
    insert into protected_branches (project_id, name, created_at, updated_at)
      values (${project}, 'person-2', now(), now());
    insert into protected_tags (project_id, name, created_at, updated_at)
      values (${project}, 'person-2', now(), now()), (${project}, 'held', now(), now());
    insert into protected_ref_access (protected_branch_id, protected_tag_id, action, access_level, created_at)
      select id, null::bigint, action, 40, now()
        from protected_branches, unnest(array['push', 'merge']) action where name = 'person-2'
      union all
      select null, id, 'create', 40, now() from protected_tags where name in ('person-2', 'held')`,
  objects: {
    'protected_branches/:name': { table: 'protected_branches', column: 'name' },
    'protected_tags/:name': { table: 'protected_tags', column: 'name' },
  },
};
