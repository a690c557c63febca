/** What follows when bridges are to start pipelines, and when pipelines change that bridges wait for. */
import type { Needs } from '../../../kernel/services.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import { cancelChildren, followPipeline } from './follow-actions.ts';
import { isFollowed, selectFollowers } from './queries.ts';
import { type BridgeServices, startBridge } from './start-bridge.ts';

const START = 'ci.start_bridges';
const FOLLOW = 'ci.follow_pipeline';
const CANCEL = 'ci.cancel_children';

type Changed = { pipeline_id: number; bridge_id: number | null; begins_anew: boolean };

export const bridgeTasks = (services: BridgeServices): Record<string, Task> => {
  const { db } = services.database;
  return {
    [START]: async (payload) => {
      const { bridge_ids } = payload as { bridge_ids: number[] };
      for (const id of bridge_ids) await startBridge(services, id);
      services.wake();
    },
    [FOLLOW]: async (payload) => {
      const { pipeline_id, bridge_id, begins_anew } = payload as Changed;
      const bridges = [
        ...(bridge_id === null ? [] : [bridge_id]),
        ...(await selectFollowers(db, pipeline_id)),
      ];
      for (const id of bridges) await followPipeline(db, id, begins_anew);
      services.wake();
    },
    [CANCEL]: async (payload) => {
      const { pipeline_ids } = payload as { pipeline_ids: number[] };
      await cancelChildren(db, pipeline_ids);
      services.wake();
    },
  };
};

export const bridgeListeners = ({ database }: Needs<'database'>): Listener[] => [
  // Beside the others of the project: what a file comes to may take its time.
  { fact: 'bridges_pending', task: START, queue: 'pipelines' },
  {
    fact: 'pipeline_changed',
    task: FOLLOW,
    queue: 'pipelines',
    when: ({ bridge_id, pipeline_id }) =>
      typeof bridge_id === 'number' || isFollowed(database.background, Number(pipeline_id)),
  },
  { fact: 'children_canceled', task: CANCEL, queue: 'pipelines' },
];
