/** Wikis of projects and groups: pages in a repository each. */
import type { Capability } from '../../core/capability.ts';
import { endpoints } from './routes.ts';

export const wikisCapability = (): Capability => ({
  name: 'wikis',
  endpoints,
  // Rows go with their project or group.
  tables: ['wiki_pages', 'group_wikis'],
});
