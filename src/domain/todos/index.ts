/** What people are reminded of: their to-do items, read and done. They are written where others involve them. */
import type { Capability } from '../../core/capability.ts';
import { endpoints } from './routes.ts';

export const todosCapability = (): Capability => ({
  name: 'todos',
  endpoints,
  // Those of a project or group go with it, by foreign key.
  tables: ['todos'],
  async reassign(tx, userId, ghostId) {
    await tx.deleteFrom('todos').where('user_id', '=', userId).execute();
    await tx.updateTable('todos').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
  },
});
