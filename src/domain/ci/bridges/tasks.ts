/** What follows when bridges are to start pipelines, and when pipelines change that bridges wait for. */
import type { Needs } from '../../../kernel/services.ts';
import { addJobs, type Task } from '../../../platform/jobs/jobs.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import { cancelChildren, followPipeline } from './follow-actions.ts';
import { isFollowed, selectFollowers, selectTurn } from './queries.ts';
import { type BridgeServices, startBridge } from './start-bridge.ts';

const AWAIT = 'ci.await_bridge';
const START = 'ci.start_bridge';
const FOLLOW = 'ci.follow_pipeline';
const CANCEL = 'ci.cancel_children';

type Pending = { project_id: number; bridge_id: number };
type Changed = { pipeline_id: number; bridge_id: number | null; begins_anew: boolean };

export const bridgeTasks = (services: BridgeServices): Record<string, Task> => {
  const { db } = services.database;
  return {
    // Each has its turn: a project of many holds up neither those of others nor what else is to be done.
    [AWAIT]: async (payload) => {
      const { project_id, bridge_id } = payload as Pending;
      const { share, turn } = await selectTurn(db, project_id);
      const key = `${share}${bridge_id}`;
      await addJobs(db, [{ task: START, payload: { bridge_id }, priority: turn, key }]);
    },
    [START]: async (payload) => {
      const { bridge_id } = payload as Pick<Pending, 'bridge_id'>;
      await startBridge(services, bridge_id);
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
  { fact: 'bridge_pending', task: AWAIT, queue: 'pipelines' },
  {
    fact: 'pipeline_changed',
    task: FOLLOW,
    queue: 'pipelines',
    when: ({ bridge_id, pipeline_id }) =>
      typeof bridge_id === 'number' || isFollowed(database.background, Number(pipeline_id)),
  },
  { fact: 'children_canceled', task: CANCEL, queue: 'pipelines' },
];
