/** Who reads a runner, and who manages it: a runner may belong to several projects, and its owner is the first. */
import type { Access } from '../../../kernel/access/access.ts';
import { asId } from '../../../kernel/access/find-queries.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { forbidden, notFound, unauthenticated } from '../../../platform/failure.ts';
import { type DetailedRunnerRow, selectRunnerFor } from './queries.ts';

/**
 * A runner by the path. It is read by those who read the runners of one of its projects, of its group or of what is below that;
 * one of the instance by all who are signed in. It is managed by those who manage the runners of its owner.
 */
export const onRunner = (ability: 'read_runner' | 'manage_runner'): Access<DetailedRunnerRow, Actor> => ({
  sentence: { on: 'runner', ability },
  anonymous: false,
  find: async ({ services, caller, params }) => {
    if (!caller) throw unauthenticated();
    const id = asId(params.id ?? '');
    const runner = id === undefined ? undefined : await selectRunnerFor(services.database.db, caller, id);
    if (!runner || runner.standing === 0) throw notFound('Runner');
    if (ability === 'manage_runner' && runner.standing < 2) throw forbidden('No access granted');
    return { subject: runner, actor: caller };
  },
});

/** All runners: for administrators and auditors. */
export const onAllRunners: Access<undefined, Actor> = {
  sentence: { on: 'runner', ability: 'read_all_runners' },
  anonymous: false,
  find: async ({ caller }) => {
    if (!caller) throw unauthenticated();
    if (!caller.admin && !caller.auditor) throw forbidden();
    return { subject: undefined, actor: caller };
  },
};
