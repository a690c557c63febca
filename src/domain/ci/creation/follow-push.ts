/** Pipelines of what is pushed: the listener of each push. */
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import type { Log } from '../../../platform/log.ts';
import { findUserOfProject } from '../../conversation/index.ts';
import { KEY_PATTERN } from '../variables/rules.ts';
import type { CreationServices } from './compile-request.ts';
import { createUnattended } from './unattended.ts';

export const FOLLOW_PUSH = 'ci.follow_push';

/** Of one push; more refs make no pipelines. */
const MAX_REFS = 4;

type Pushed = {
  fact_id: number;
  project_id: number;
  user_id: number | null;
  updates: RefUpdate[];
  options?: { ci?: { skip?: unknown; variable?: Record<string, number>; input?: Record<string, number> } };
};

const isKey = new RegExp(KEY_PATTERN);

/** `KEY=value`, of options that may be given several times. */
const pairsOf = (given: Record<string, number> | undefined): [key: string, value: string][] =>
  Object.keys(given ?? {}).flatMap((text) => {
    const at = text.indexOf('=');
    return at > 0
      ? [[text.slice(0, at), text.slice(at + 1)] as const].map(([key, value]) => [key, value])
      : [];
  });

export const followPush =
  (services: CreationServices & { log: Log }): Task =>
  async (payload) => {
    const { fact_id, project_id, user_id, updates, options } = payload as unknown as Pushed;
    const refs = updates.flatMap(({ ref, before, after }) => {
      const short = shortRef(ref);
      return short && after !== NO_OBJECT ? [{ ...short, before, after }] : [];
    });
    if (user_id === null || refs.length === 0 || refs.length > MAX_REFS) return;
    const user = await findUserOfProject(services, project_id, user_id, payload);
    if (!user?.project.may('run_pipelines')) return;
    const variables = pairsOf(options?.ci?.variable)
      .filter(([key]) => isKey.test(key))
      .map(([key, value]) => ({ key, value }));
    const inputs = pairsOf(options?.ci?.input);
    for (const { kind, name, before, after } of refs)
      await createUnattended(
        { services, actor: user.actor, subject: user.project },
        {
          source: 'push',
          ref: name,
          tag: kind === 'tag',
          beforeSha: before,
          sha: after,
          factId: fact_id,
          variables,
          ...(inputs.length > 0 && { inputs: Object.fromEntries(inputs) }),
          ...(options?.ci?.skip !== undefined && { skip: true }),
        },
      );
  };
