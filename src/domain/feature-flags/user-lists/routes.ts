/** Lists of users for the strategies of a project's feature flags. */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createUserList, deleteUserList, updateUserList } from './actions.ts';
import { selectUserList, selectUserLists, type UserListRow } from './queries.ts';
import { CreateInput, ListInput, OneInput, UpdateInput, UserListRecord } from './schema.ts';

const path = '/projects/:id/feature_flags_user_lists';

const present = (row: UserListRow): UserListRecord => ({
  ...row,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const userListEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Lists of users of a project, by their numbers.',
    access: onProject('read_feature_flags'),
    page: 'offset',
    input: ListInput,
    item: UserListRecord,
    handle: async ({ db, subject, input, page }) =>
      mapPage(await selectUserLists(db, subject, input.search, page), present),
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a list of users.',
    access: onProject('manage_feature_flags'),
    input: CreateInput,
    reply: UserListRecord,
    handle: async ({ db, actor, subject, input }) => present(await createUserList(db, actor, subject, input)),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:iid`,
    summary: 'One list of users.',
    access: onProject('read_feature_flags'),
    input: OneInput,
    reply: UserListRecord,
    handle: async ({ db, subject, input }) => present(found(await selectUserList(db, subject, input.iid))),
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:iid`,
    summary: 'Changes a list of users; what is not sent stays as it is.',
    access: onProject('manage_feature_flags'),
    input: UpdateInput,
    reply: UserListRecord,
    handle: async ({ db, actor, subject, input }) => present(await updateUserList(db, actor, subject, input)),
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:iid`,
    summary: 'Deletes a list of users; 409 where a strategy names it.',
    access: onProject('manage_feature_flags'),
    also: [409],
    input: OneInput,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      await deleteUserList(db, actor, subject, input.iid, unmodified);
      return null;
    },
  }),
];
