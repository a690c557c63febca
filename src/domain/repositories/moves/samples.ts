/** Storage moves of projects, groups and snippets, which are over. */
import type { SampleObject, Samples } from '../../../../test/support/samples.ts';

/** The snippet whose moves are as many as the others'. */
const snippet = '(select min(id) from snippets where project_id is null)';

const moves: SampleObject = {
  table: 'storage_moves',
  newest: true,
  where: ({ project, group }, path) => {
    const container = /project|group|snippet/.exec(path)?.[0] ?? '';
    return `container = '${container}' and container_id = ${{ project, group, snippet }[container]}`;
  },
};

const moved = { with: { destination_storage_name: 'fast' } };

export const samples: Samples = {
  after: ['snippets'],
  rows: ({ project, group }) => `
    insert into storage_moves (container, container_id, state, source_storage_name, destination_storage_name, created_at, updated_at)
      select container, x.id, 'finished', 'default', 'fast', now() - age * interval '1 day', now()
      from (select 'project', id, 0 from projects where path = 'own'
        union all select 'group', id, 0 from namespaces where path like 'beside-%'
        union all select 'snippet', id, 0 from snippets where project_id is null
        union all select container, y.id, 1 from person,
          (values ('project', ${project}), ('group', ${group}), ('snippet', ${snippet})) y(container, id)) x(container, id, age)`,
  objects: {
    'project_repository_storage_moves/:repository_storage_move_id': moves,
    'group_repository_storage_moves/:repository_storage_move_id': moves,
    'snippet_repository_storage_moves/:repository_storage_move_id': moves,
    'repository_storage_moves/:repository_storage_move_id': moves,
  },
  requests: () => ({
    'POST /projects/:id/repository_storage_moves': moved,
    'POST /snippets/:id/repository_storage_moves': moved,
    'POST /groups/:id/repository_storage_moves': moved,
  }),
};
