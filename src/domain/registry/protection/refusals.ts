/** Refuses, in the words of the protocol, what rules keep from a program. */
import { takeTurns } from '../../../platform/turns.ts';
import { RegistryError } from '../refusals/errors.ts';
import type { Rules } from './queries.ts';
import { isImmutable, neededInRepository, type TagGuard } from './rules.ts';

/** An image, and its caller's level. */
type Place = { name: string; level: number };

export function requireRepositoryPush({ repository }: Rules, { name, level }: Place): void {
  if (level < neededInRepository(repository, name, 'push_level'))
    throw new RegistryError('DENIED', 'Pushing to protected repository path forbidden');
}

export function requireRepositoryDelete({ repository }: Rules, { name, level }: Place): void {
  if (level < neededInRepository(repository, name, 'delete_level'))
    throw new RegistryError('DENIED', 'Deleting from protected repository path forbidden');
}

/** Those of the tags that are immutable. By turns: a push may have a hundred tags, and patterns take their time. */
export async function requireTagPush(
  guard: TagGuard | undefined,
  tags: readonly string[],
): Promise<string[]> {
  if (!guard) return [];
  const turn = takeTurns();
  const immutable: string[] = [];
  for (const tag of tags) {
    const pattern = guard.pushRefusedBy(tag);
    if (pattern !== undefined)
      throw new RegistryError('DENIED', `the tag ${tag} is protected by the pattern ${pattern}`);
    if (guard.isImmutable(tag)) immutable.push(tag);
    await turn();
  }
  return immutable;
}

export function requireTagDelete(guard: TagGuard | undefined, tag: string): void {
  const pattern = guard?.deleteRefusedBy(tag);
  if (pattern !== undefined)
    throw new RegistryError('DENIED', `the tag ${tag} is protected from deletion by the pattern ${pattern}`);
}

export const immutableTag = (tag: string): RegistryError =>
  new RegistryError('DENIED', `the tag ${tag} is immutable: it cannot be pushed again`);

/** Where tags are immutable, no manifest is deleted by its digest. */
export function requireManifestDelete({ tag }: Rules): void {
  if (tag.some(isImmutable))
    throw new RegistryError('DENIED', 'manifests of a project with immutable tags are not deleted');
}
