/** Changelogs, made of the commits of a repository whose trailers say so. */
import type { Capability } from '../../kernel/capability.ts';
import { changelogEndpoints } from './routes.ts';

export const changelogsCapability = (): Capability => ({
  name: 'changelogs',
  endpoints: changelogEndpoints,
  tables: [],
});
