/**
 * Users' to-do items, read and done. Other capabilities write them when users are involved, and register what they
 * are about.
 */
import type { Capability } from '../../../kernel/capability.ts';
import { reassignTodos } from './actions.ts';
import { endpoints } from './routes.ts';

export const todosCapability = (): Capability => ({
  name: 'todos',
  endpoints,
  // To-do items of a project or group are deleted with it, by foreign key.
  tables: ['todos'],
  reassign: reassignTodos,
});
