/** A change of what the instance shows and allows: acknowledged when no process goes by what was there before. */
import type { AuditedEntity } from '../../kernel/activity/announce-actions.ts';
import type { Needs } from '../../kernel/services.ts';
import { untilOutdated } from '../../platform/recent.ts';

export const instanceEntity: AuditedEntity = { type: 'InstanceScope', id: 1, path: 'instance' };

export type ChangeServices = Needs<'instance' | 'presence'>;

export async function changeInstance<T>(
  { instance, presence }: ChangeServices,
  change: () => Promise<T>,
): Promise<T> {
  const changed = await change();
  instance.forget();
  await untilOutdated(presence);
  return changed;
}
