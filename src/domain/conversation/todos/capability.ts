/**
 * Users' to-do items, read and done. Other capabilities write them when users are involved, and register what they
 * are about.
 */
import type { Capability } from '../../../kernel/capability.ts';
import { endpoints } from './routes.ts';

export const todosCapability = (): Capability => ({
  name: 'todos',
  endpoints,
  // To-do items of a project or group are deleted with it, by foreign key.
  tables: ['todos'],
  async reassign(tx, userId, ghostId) {
    await tx.deleteFrom('todos').where('user_id', '=', userId).execute();
    await tx.updateTable('todos').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
  },
});
