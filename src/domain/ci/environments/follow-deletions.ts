/** Environments of branches that are gone stop, where a job does it: the listener of pushes that delete. */
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { findUserOfProject } from '../../conversation/index.ts';
import { deployerOf } from '../protected-environments/deployer-queries.ts';
import { selectOfBranches, stop } from './stop-actions.ts';

export const FOLLOW_DELETIONS = 'ci.follow_deletions';

type Pushed = { project_id: number; user_id: number | null; updates: RefUpdate[] };

const goneOf = ({ updates }: Pick<Pushed, 'updates'>): string[] =>
  updates.flatMap(({ ref, after }) => {
    const short = after === NO_OBJECT ? shortRef(ref) : undefined;
    return short?.kind === 'branch' ? [short.name] : [];
  });

/** Whether a push is one that deletes branches. */
export const deletesBranches = (payload: Readonly<Record<string, unknown>>): boolean =>
  payload.user_id !== null && goneOf(payload as Pushed).length > 0;

export const followDeletions =
  (services: Parameters<typeof findUserOfProject>[0] & Needs<'config' | 'database'>): Task =>
  async (payload) => {
    const pushed = payload as unknown as Pushed;
    const user = await findUserOfProject(services, pushed.project_id, pushed.user_id ?? 0, payload);
    if (!user?.project.may('manage_environments')) return;
    const { background } = services.database;
    const environments = await selectOfBranches(background, pushed.project_id, goneOf(pushed));
    if (environments.length === 0) return;
    const { mayDeploy } = await deployerOf(background, {
      services,
      actor: user.actor,
      subject: user.project,
    });
    for (const environment of environments.filter(mayDeploy))
      await inTransaction(background, (tx) =>
        stop(tx, environment.id, { starter: user.actor.id, otherwise: 'stay' }),
      );
  };
