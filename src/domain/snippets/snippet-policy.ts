/** Abilities on snippets, for the API and git. Pure (facts: Roles and visibility). */

import type { Actor } from '../../kernel/actor.ts';
import { type Decision, decide, type Rule, type Standing } from '../../kernel/policy/policy.ts';
import { GUEST, NO_ACCESS, OWNER, type Role } from '../../kernel/policy/roles.ts';

/** The author of a personal snippet is its Owner; other users have no role. */
export const snippetPolicy = {
  read_snippet: { least: GUEST, visible: 'anyone' },
  manage_snippet: { least: OWNER },
} as const satisfies Record<string, Rule>;
export type SnippetAbility = keyof typeof snippetPolicy;

type Person = Pick<Actor, 'id' | 'admin' | 'auditor' | 'external'> | undefined;
type Snippet = { author_id: number; visibility: number };

const standingOf = (person: Person, { visibility }: Pick<Snippet, 'visibility'>, role: Role): Standing => ({
  signedIn: person !== undefined,
  admin: person?.admin ?? false,
  auditor: person?.auditor ?? false,
  external: person?.external ?? false,
  role,
  visibility,
  archived: false,
});

/** The decision on a personal snippet. */
export const decidePersonal = (ability: SnippetAbility, person: Person, snippet: Snippet): Decision =>
  decide(
    snippetPolicy[ability],
    standingOf(person, snippet, person?.id === snippet.author_id ? OWNER : NO_ACCESS),
  );

/** Whether a caller who may read the snippets of the project, with this role, sees this one. */
export const seesInProject = (person: Person, snippet: Pick<Snippet, 'visibility'>, role: Role): boolean =>
  decide(snippetPolicy.read_snippet, standingOf(person, snippet, role)) === 'allowed';
