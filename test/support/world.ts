/** A small world in which every list has the same number of objects, each of another owner: made by SQL, as rows. */
import { groupWiki, projectRepository, projectWiki } from '../../src/domain/repositories/store/containers.ts';
import { git } from '../../src/platform/git/program/program.ts';
import { readRef } from '../../src/platform/git/refs.ts';
import { seal } from '../../src/platform/secret.ts';
import { alertLog, alerts } from './alert-rows.ts';
import type { TestApp } from './app.ts';
import { comments, conversation } from './conversation-rows.ts';
import { epics } from './epic-rows.ts';
import { errors } from './error-rows.ts';
import type { SampleIds } from './inventory.ts';
import { aroundIssues } from './issue-rows.ts';
import { issues, planning } from './planning-rows.ts';
import { importStream } from './repositories.ts';
import { todosAndUploads } from './todo-rows.ts';

/**
 * `count` of every kind below one group, one project of it, and root, who is `user` and stars, follows, owns
 * and is a member of `count` objects.
 */
export async function makeWorld(app: TestApp, count: number): Promise<SampleIds> {
  const { sql } = app.app.services.database;
  const [root] = await sql<{ id: number }[]>`select id from users where username = 'root'`;
  const [home] = await sql<{ id: number }[]>`select id from namespaces where owner_id = ${root?.id ?? 0}`;
  const [made] = await sql<{ id: number }[]>`
    insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
    values ('group', '{}', 'world', 'world', 'world', 'world', 20, now(), now()) returning id`;
  const group = made?.id ?? 0;
  await sql`update namespaces set ancestor_ids = array[id] where id = ${group}`;
  const [project] = await sql<{ id: number }[]>`
    insert into projects (namespace_id, name, path, visibility, last_activity_at, created_at, updated_at)
    values (${group}, 'world', 'world', 20, now(), now(), now()) returning id`;
  const places = { user: root?.id ?? 0, group, project: project?.id ?? 0 };
  await sql.unsafe(people(count, places.group));
  await sql.unsafe(namespaces(count, places.group, home?.id ?? 0, places.project));
  await sql.unsafe(belongings(places, seal(app.app.services.secretKey, 'invitation')));
  await sql.unsafe(credentials(places));
  await sql.unsafe(planning(places));
  await sql.unsafe(issues(places));
  await sql.unsafe(aroundIssues(places));
  await sql.unsafe(epics(places));
  await sql.unsafe(errors(places));
  await sql.unsafe(alerts(places));
  await sql.unsafe(conversation(places));
  await sql.unsafe(alertLog(places));
  await sql.unsafe(todosAndUploads(places));
  await sql.unsafe(activity(places));
  await fillWikis(app, count, places);
  await fillRepository(app, count, places);
  return places;
}

/** A page `person-1` and so on in the wikis of the group and of the project. */
async function fillWikis(app: TestApp, count: number, { group, project }: SampleIds): Promise<void> {
  const { database, repositories } = app.app.services;
  await database.sql.unsafe(`
    insert into group_wikis (id, repository_storage, created_at, updated_at) values (${group}, 'default', now(), now());
    insert into wiki_pages (project_id, group_id, slug, title, created_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, 'person-' || i, 'person ' || i, now()
      from generate_series(1, ${count}) i, generate_series(1, 2) x;`);
  const pages = Array.from({ length: count }, (_, index) => [`person-${index + 1}.md`, 'Hello']);
  const input = importStream([Object.fromEntries(pages)]);
  for (const key of [projectWiki(project), groupWiki(group)])
    await repositories.write(key, 'main', ({ folder }) => git(['fast-import', '--quiet'], { folder, input }));
}

/**
 * A commit by each user, and one more that adds a file for each; branches and tags of them all, and statuses
 * and comments. The last commit is also the branch `1`, the value of a revision in addresses.
 */
async function fillRepository(app: TestApp, count: number, places: SampleIds): Promise<void> {
  const { project } = places;
  const { database, repositories } = app.app.services;
  const people = Array.from({ length: count }, (_, index) => `person-${index + 1}`);
  const commits = people.map((name, index) =>
    importStream([{ [name]: 'Hello' }], 'main', { start: 1_700_000_000 + index }).replaceAll(
      'Ada Lovelace <ada@example.com>',
      `${name} <${name}@example.org>`,
    ),
  );
  const last = importStream([Object.fromEntries(people.map((name) => [`docs/${name}`, name]))]);
  const refs = people.flatMap((name) => [`refs/heads/${name}`, `refs/tags/${name}`]);
  const resets = ['refs/heads/1', ...refs].map((ref) => `reset ${ref}\nfrom refs/heads/main\n\n`);
  const input = [...commits, last, ...resets].join('');
  const sha = await repositories.write(projectRepository(project), 'main', async (folder) => {
    await git(['fast-import', '--quiet'], { folder: folder.folder, input });
    return readRef(folder, 'refs/heads/main');
  });
  await database.sql.unsafe(`
    update projects set empty_repo = false, default_branch = 'main' where id = ${project};
    with pipeline as (
      insert into external_pipelines (project_id, sha, ref, created_at)
      values (${project}, '${sha}', 'main', now()) returning id)
    insert into commit_statuses (pipeline_id, project_id, sha, ref, name, status, author_id, created_at, updated_at)
      select p.id, ${project}, '${sha}', 'main', username, 'success', u.id, now(), now()
      from pipeline p, users u where username like 'person-%';
    ${comments(places, sha ?? '')}`);
}

/** Users `person-1` and so on, each with a namespace; they are the group's enterprise users. */
const people = (count: number, group: number): string => `
  insert into users (username, name, email, projects_limit, can_create_group, confirmed_at, last_activity_on,
      enterprise_group_id, enterprise_group_associated_at, created_at, updated_at)
    select 'person-' || i, 'Person ' || i, 'person-' || i || '@example.org', 10, true, now(), current_date,
      ${group}, now(), now() - i * interval '1 hour', now()
    from generate_series(1, ${count}) i;
  insert into emails (user_id, email, confirmed_at, created_at, updated_at)
    select id, email, now(), now(), now() from users where username like 'person-%';
  insert into namespaces (kind, owner_id, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
    select 'user', id, '{}', name, username, username, name, 20, now(), now() from users where username like 'person-%';
  update namespaces set ancestor_ids = array[id] where ancestor_ids = '{}';`;

/** Subgroups, groups beside it, projects of root, of the group and of the users; forks; shares in both directions. */
const namespaces = (count: number, group: number, home: number, project: number): string => `
  insert into namespaces (kind, parent_id, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
    select 'group', ${group}, array[${group}], 'Part ' || i, 'part-' || i, 'world/part-' || i, 'world / Part ' || i, 20, now(), now()
    from generate_series(1, ${count}) i
    union all
    select 'group', null, '{}', 'Beside ' || i, 'beside-' || i, 'beside-' || i, 'Beside ' || i, 20, now(), now()
    from generate_series(1, ${count}) i;
  update namespaces set ancestor_ids = ancestor_ids || id where path like 'part-%' or path like 'beside-%';
  insert into projects (namespace_id, creator_id, name, path, visibility, forked_from_id, last_activity_at, created_at, updated_at)
    select place, u.id, 'Thing ' || u.id, 'thing-' || u.id, 20, fork, now(), now() - u.id * interval '1 hour', now()
    from users u, (values (${home}, ${project}), (${group}, null::bigint)) x(place, fork) where u.username like 'person-%'
    union all
    select n.id, u.id, 'Own', 'own', 20, null, now(), now(), now()
    from users u join namespaces n on n.owner_id = u.id where u.username like 'person-%';
  insert into group_group_links (shared_group_id, shared_with_group_id, group_access, created_at)
    select ${group}, id, 30, now() from namespaces where path like 'beside-%'
    union all select id, ${group}, 30, now() from namespaces where path like 'beside-%';
  insert into project_group_links (project_id, group_id, group_access, created_at)
    select ${project}, id, 30, now() from namespaces where path like 'beside-%'
    union all select id, ${group}, 30, now() from projects where path = 'own';`;

/**
 * The query of a list in the world, beside the page, with which it is as long as the others; empty, or it
 * ends with `&`.
 */
export function queryInWorld(title: string): string {
  if (title.endsWith('/search')) return 'scope=users&search=person&';
  if (title === 'GET /issues') return 'scope=all&';
  return title === 'GET /projects/:id/groups' ? 'with_shared=true&' : '';
}

const stamps = 'now(), now()';

/** The activity of the project: issues, notes on the first of them, and pushes by turns. */
const activity = ({ project }: SampleIds): string => `
  insert into activity_events (project_id, author_id, action, target_type, target_id, details, created_at)
    select ${project}, author_id, action, type, target, details, now() from (
      select id, author_id, 'created' as action, 'Issue' as type, id as target, null::jsonb as details, 1 as turn
        from issues where project_id = ${project}
      union all
      select id, author_id, 'commented', 'Note', id, null, 2 from notes where project_id = ${project} and issue_id is not null
        and not in_thread
      union all
      select id, id, 'pushed', null, null, '{"push_data": {"commit_count": 1, "action": "pushed", "ref_type": "branch",
        "commit_from": null, "commit_to": null, "ref": "main", "commit_title": null, "ref_count": null}}', 3
        from users where username like 'person-%') x order by id, turn;`;

/** Records of root, the group and the project, each by or about another user. */
const belongings = ({ user, group, project }: SampleIds, sealed: string): string => `
  create temporary table person on commit drop as select id, username from users where username like 'person-%';
  insert into emails (user_id, email, confirmed_at, created_at, updated_at)
    select ${user}, 'root-' || id || '@example.org', now(), ${stamps} from person;
  insert into ssh_keys (user_id, title, key, fingerprint, fingerprint_sha256, usage_type, created_at, updated_at)
    select ${user}, username, 'ssh-ed25519 AAAA' || id, 'md5-' || id, 'sha256-' || id, 'auth', ${stamps} from person;
  insert into gpg_keys (user_id, key, fingerprint, created_at, updated_at)
    select ${user}, 'key ' || id, 'fingerprint-' || id, ${stamps} from person;
  insert into follows (follower_id, followee_id, created_at)
    select ${user}, id, now() from person union all select id, ${user}, now() from person;
  insert into custom_attributes (user_id, project_id, namespace_id, key, value, updated_at)
    select case x when 1 then ${user} end, case x when 2 then ${project} end, case x when 3 then ${group} end,
      username, 'value', now() from person, generate_series(1, 3) x;
  insert into members (user_id, project_id, namespace_id, access_level, created_by_id, created_at, updated_at)
    select id, ${project}, null::bigint, 30, id, ${stamps} from person
    union all select id, null, ${group}, 20, id, ${stamps} from person
    union all select ${user}, null, n.id, 50, p.id, ${stamps} from namespaces n join person p on n.path = 'beside-' || substr(p.username, 8);
  insert into access_requests (user_id, project_id, namespace_id, requested_at)
    select id, ${project}, null::bigint, now() from person union all select id, null, ${group}, now() from person;
  insert into invitations (project_id, namespace_id, email, token_sealed, token_digest, access_level, created_by_id, created_at, updated_at)
    select case x when 1 then ${project} end, case x when 2 then ${group} end, username || '@example.net', '${sealed}',
      sha256((x || username)::bytea), 30, id, ${stamps} from person, generate_series(1, 2) x;
  insert into stars (project_id, user_id, starred_at)
    select ${project}, id, now() from person union all select id, ${user}, now() from projects where path = 'own';
  insert into project_feature_flags (project_id, name, strategies, created_at, updated_at)
    select ${project}, username,
      jsonb_build_array(jsonb_build_object('id', id, 'name', 'default', 'parameters', '{}'::jsonb, 'scopes', '[]'::jsonb)),
      ${stamps} from person;
  insert into badges (project_id, namespace_id, name, link_url, image_url, created_at, updated_at)
    select case x when 1 then ${project} end, case x when 2 then ${group} end, username,
      'https://example.org/%{project_path}/%{commit_sha}', 'https://example.org/%{latest_tag}.svg', ${stamps}
    from person, generate_series(1, 2) x order by id, x;
  insert into snippets (project_id, author_id, title, visibility, repository_storage, ready, created_at, updated_at)
    select case x when 3 then ${project} end, case x when 1 then ${user} else id end, username, 20, 'default', true, ${stamps}
    from person, generate_series(1, 3) x order by username, x;
  insert into topics (name, title, created_at, updated_at)
    select username, username, now(), now() from users where username like 'person-%';
  insert into deploy_keys (user_id, title, key, fingerprint, fingerprint_sha256, created_at, updated_at)
    select id, username, 'ssh-ed25519 BBBB' || id, 'md5-' || id, 'sha256-deploy-' || id, ${stamps} from person;
  insert into deploy_keys_projects (deploy_key_id, project_id, can_push, created_at)
    select id, ${project}, true, now() from deploy_keys
    union all
    select k.id, p.id, false, now() from deploy_keys k
    join projects p on p.creator_id = k.user_id and p.forked_from_id = ${project};
  insert into protected_branches (project_id, name, created_at, updated_at)
    select ${project}, 'guarded-' || username, ${stamps} from person;
  insert into protected_tags (project_id, name, created_at, updated_at)
    select ${project}, 'guarded-' || username, ${stamps} from person;
  insert into protected_ref_access (protected_branch_id, protected_tag_id, action, user_id, created_at)
    select b.id, null::bigint, action, p.id, now() from protected_branches b
    join person p on b.name = 'guarded-' || p.username, (values ('push'), ('merge')) x(action)
    union all
    select null, t.id, 'create', p.id, now() from protected_tags t join person p on t.name = 'guarded-' || p.username;
  insert into storage_moves (container, container_id, state, source_storage_name, destination_storage_name, created_at, updated_at)
    select container, x.id, 'finished', 'default', 'fast', now() - age * interval '1 day', now()
    from (select 'project', id, 0 from projects where path = 'own'
      union all select 'group', id, 0 from namespaces where path like 'beside-%'
      union all select 'snippet', id, 0 from snippets where project_id is null
      union all select container, y.id, 1 from person,
        (values ('project', ${project}), ('group', ${group}), ('snippet', 1)) y(container, id)) x(container, id, age);
  insert into activity_events (project_id, author_id, action, created_at)
    select id, ${user}, 'created', now() from projects;
  insert into audit_events (author_id, entity_type, entity_id, event_name, details, created_at)
    select id, case x when 1 then 'Project' else 'Group' end, case x when 1 then ${project} else ${group} end, 'changed',
      jsonb_build_object('author_name', username, 'target_id', id, 'target_type', 'User', 'target_details', username), now()
    from person, generate_series(1, 2) x;`;

/** Tokens of every kind; those of the group and the project belong to bots. */
const credentials = ({ user, group, project }: SampleIds): string => `
  insert into users (username, name, email, kind, projects_limit, can_create_group, created_at, updated_at)
    select bot || '-' || id, 'Bot', bot || '-' || id || '@example.org', bot, 0, false, ${stamps}
    from users, (values ('project_bot'), ('group_bot')) x(bot) where username like 'person-%';
  insert into access_tokens (kind, digest, user_id, project_id, namespace_id, access_level, name, scopes, created_at, updated_at)
    select sort, sha256((sort || id)::bytea), ${user}, null::bigint, null::bigint, null::smallint, 'Token', array['api'], ${stamps}
    from users, (values ('personal'), ('impersonation')) x(sort) where username like 'person-%'
    union all
    select split_part(kind, '_', 1), sha256((kind || id)::bytea), id, case kind when 'project_bot' then ${project} end,
      case kind when 'group_bot' then ${group} end, 30, 'Token', array['api'], ${stamps}
    from users where kind in ('project_bot', 'group_bot');
  insert into deploy_tokens (digest, project_id, namespace_id, name, username, scopes, created_by_id, created_at, updated_at)
    select sha256((x || username)::bytea), case x when 1 then ${project} end, case x when 2 then ${group} end, username, username,
      array['read_repository'], id, ${stamps} from users, generate_series(1, 2) x where username like 'person-%';
  insert into oauth_applications (uid, name, redirect_uris, scopes, confidential, created_by_id, created_at, updated_at)
    select username, username, array['https://client.example/'], array['api'], true, id, ${stamps}
    from users where username like 'person-%';`;
