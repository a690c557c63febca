/** Templates of files that every project has: Dockerfiles, files `.gitignore`, pipelines, licenses. */
import type { Capability } from '../../kernel/capability.ts';
import { templateEndpoints } from './routes.ts';

export const templatesCapability = (): Capability => ({
  name: 'templates',
  endpoints: templateEndpoints,
  tables: [],
});
