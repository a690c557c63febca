/** Chooses the storage of a new project, snippet or wiki. */

import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { randomFraction } from '../../../platform/secret.ts';

const DEFAULT_STORAGE = 'default';

/**
 * A storage by weight; one without a weight is never chosen. Without any weight, `default`, or the first when
 * that is not among them. `random` is at least 0 and below 1. Pure.
 */
export function pickStorage(
  weights: Readonly<Record<string, number>>,
  storages: readonly string[],
  random: number,
): string {
  const weighted = storages.map((name) => ({
    name,
    weight: Object.hasOwn(weights, name) ? Math.max(0, weights[name] ?? 0) : 0,
  }));
  let rest = random * weighted.reduce((sum, { weight }) => sum + weight, 0);
  for (const { name, weight } of weighted) {
    if (rest < weight) return name;
    rest -= weight;
  }
  return storages.includes(DEFAULT_STORAGE) ? DEFAULT_STORAGE : (storages[0] ?? DEFAULT_STORAGE);
}

/** The storage of a new container. */
export const chooseStorage = (
  { repositories }: Needs<'repositories'>,
  settings: Pick<ApplicationSettings, 'repository_storages_weighted'>,
): string =>
  pickStorage(settings.repository_storages_weighted, [...repositories.storages.keys()], randomFraction());
