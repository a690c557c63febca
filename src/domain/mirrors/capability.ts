/** Mirrors: their settings, what pushes to projects ask of them, and their runs. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { createListenedFlags } from '../hooks/index.ts';
import { MAIL, mirrorMailTask } from './mails/mail-task.ts';
import { askForPushes } from './push-actions.ts';
import { ANY_PUSH, selectPushFlag } from './queries.ts';
import { mirrorEndpoints } from './routes.ts';
import type { RunServices } from './running/remote-run.ts';
import { MIRROR_FAILED } from './running/run-actions.ts';
import { createRunner } from './running/runner.ts';

const PUSHED = 'mirrors.pushed';

export function mirrorsCapability(services: RunServices & Needs<'baseUrl' | 'instance'>): Capability {
  const db = services.database.background;
  const runner = createRunner(services);
  const flags = createListenedFlags(services, selectPushFlag);
  return {
    name: 'mirrors',
    endpoints: mirrorEndpoints(flags.changed),
    tasks: {
      // The payload of `repository_pushed` names the project.
      [PUSHED]: ({ project_id }) => askForPushes(db, Number(project_id)),
      [MAIL]: mirrorMailTask(services),
    },
    listeners: [
      {
        fact: 'repository_pushed',
        task: PUSHED,
        anyOrder: true,
        when: async () => (await flags.read()).has(ANY_PUSH),
      },
      { fact: MIRROR_FAILED, task: MAIL, anyOrder: true },
    ],
    background: { start: runner.start, stop: runner.stop },
    gauges: [
      {
        name: 'mirror_runs',
        help: 'Mirrors that this process brings up to date at present.',
        labels: [],
        read: () => [{ labels: {}, value: runner.running() }],
      },
    ],
    // They go with their project, by foreign key; the user of one is set to null.
    tables: ['mirrors'],
  };
}
