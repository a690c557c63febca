/** Which names an alias may have. Pure. */
import { pathProblems } from '../../../kernel/namespaces/paths.ts';

/** What is wrong with the name, as messages; none for a good one. */
export function aliasProblems(name: string): string[] {
  const problems = pathProblems(name, 'top_level');
  // An address of digits is that of the project whose id they are, and one with this end a group's wiki.
  if (/^\d+$/.test(name)) problems.push('cannot be a number');
  if (/\.wiki$/i.test(name)) problems.push('cannot end in .wiki');
  return problems;
}
