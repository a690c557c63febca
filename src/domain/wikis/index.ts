/** Wikis of projects and groups: pages in a repository each. */
import type { Capability } from '../../core/capability.ts';
import { readCutOff, WRITE_CUT_OFF } from '../../core/repositories/cut-off.ts';
import type { Services } from '../../core/services.ts';
import { endpoints } from './routes.ts';
import { settlePages } from './settle.ts';

const SETTLE = 'wikis.settle';

export const wikisCapability = (services: Services): Capability => ({
  name: 'wikis',
  endpoints,
  tasks: { [SETTLE]: (payload) => settlePages(services, readCutOff(payload)) },
  listeners: [{ fact: WRITE_CUT_OFF, task: SETTLE }],
  // Rows go with their project or group.
  tables: ['wiki_pages', 'group_wikis'],
});
