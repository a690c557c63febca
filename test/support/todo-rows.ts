/** To-do items and uploaded files of the world. */
import type { SampleIds } from './inventory.ts';

/**
 * Root has a to-do item about an issue by each user; each has uploaded a file to the project and to the
 * group.
 */
export const todosAndUploads = ({ user, group, project }: SampleIds): string => `
  insert into todos (user_id, author_id, project_id, issue_id, action, created_at, updated_at)
    select ${user}, id, ${project}, (select min(id) from issues where project_id = ${project}), 'mentioned', now(), now()
    from users where username like 'person-%';
  insert into uploads (project_id, namespace_id, uploader_id, secret, filename, size, created_at)
    select case x when 1 then ${project} end, case x when 2 then ${group} end, id, md5(x || username), username, 1, now()
    from users, generate_series(1, 2) x where username like 'person-%' order by x, id;`;
