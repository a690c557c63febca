/**
 * Interrupted writes: their process or the database died, and git may have taken a write that the database
 * does not know of. The row in repository_uses stays, and announces the write to the listeners that
 * reconcile.
 */

import type { ContainerKind, PushIntent } from '../../../kernel/repository-store.ts';
import { containerTables } from './containers.ts';

export const WRITE_INTERRUPTED = 'repository_write_interrupted';

export type InterruptedWrite = { kind: ContainerKind; id: number; beganAt: Date; pushed: PushIntent | null };

const isKind = (value: unknown): value is ContainerKind =>
  typeof value === 'string' && Object.hasOwn(containerTables, value);

/** Parses the fact's payload in a listener's task. */
export function parseInterruptedWrite({
  kind,
  id,
  began_at,
  pushed,
}: Record<string, unknown>): InterruptedWrite {
  if (!isKind(kind)) throw new Error(`no container is a ${kind}`);
  // The lease that was interrupted had it so.
  const intent = (pushed ?? null) as PushIntent | null;
  return { kind, id: Number(id), beganAt: new Date(String(began_at)), pushed: intent };
}
