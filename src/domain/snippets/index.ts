/** Snippets, personal and of projects: a few files each, in a repository of their own. */
import type { Capability } from '../../core/capability.ts';
import { readCutOff, WRITE_CUT_OFF } from '../../core/repositories/cut-off.ts';
import type { Services } from '../../core/services.ts';
import { sweepUnready } from './actions.ts';
import { settleFiles } from './files.ts';
import { personalEndpoints } from './personal-routes.ts';
import { projectEndpoints } from './project-routes.ts';

const SWEEP = 'snippets.sweep_unready';
const SETTLE = 'snippets.settle';

export const snippetsCapability = (services: Services): Capability => ({
  name: 'snippets',
  endpoints: [...personalEndpoints, ...projectEndpoints],
  tasks: {
    [SWEEP]: () => sweepUnready(services.database.background),
    [SETTLE]: (payload) => settleFiles(services, readCutOff(payload)),
  },
  listeners: [{ fact: WRITE_CUT_OFF, task: SETTLE }],
  schedules: [{ task: SWEEP, pattern: '41 * * * *' }],
  tables: ['snippets'],
  // Those of a project go with it, by foreign key.
  async reassign(tx, userId, ghostId) {
    await tx.updateTable('snippets').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
  },
});
