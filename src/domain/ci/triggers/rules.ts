/** Trigger tokens: how they look, and how many there may be (facts-ci: 5.3, 9). Pure. */
import { invalid } from '../../../platform/failure.ts';

export const TOKEN_PREFIX = 'glptt-';

/** Of one project. */
export const MAX_TRIGGERS = 25_000;

/** 400 where the project has as many as it may have. */
export function requirePlace(count: number): void {
  if (count >= MAX_TRIGGERS)
    throw invalid({ base: [`Maximum number of pipeline triggers (${MAX_TRIGGERS}) exceeded`] });
}

/** What others than the owner see of a token: that it is not another one. */
export const shortToken = (token: string): string =>
  token.slice(TOKEN_PREFIX.length, TOKEN_PREFIX.length + 4);
