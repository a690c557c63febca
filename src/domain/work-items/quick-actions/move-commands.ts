/** The quick actions that move, clone or promote an issue. Pure. */
import { issues, type WorkCommandRule } from './work-command-terms.ts';

/** The full path of the project in the argument, if there is one, and whether notes are copied. */
export function destinationIn(argument: string): { path: string | undefined; withNotes: boolean } {
  const words = argument.split(/\s+/).filter((word) => word !== '');
  return {
    path: words.find((word) => !word.startsWith('--'))?.toLowerCase(),
    withNotes: words.includes('--with_notes'),
  };
}

export const moveCommandRules: readonly WorkCommandRule[] = [
  {
    names: ['move'],
    kinds: issues,
    who: 'team',
    mean: (argument, { now, projects, projectId: here }) => {
      const { path = '' } = destinationIn(argument);
      const projectId = projects.get(path);
      if (now.stage !== 'here' || projectId === undefined || projectId === here) return undefined;
      return { effects: [{ do: 'move', projectId, leaves: true }], message: `Moved this issue to ${path}.` };
    },
  },
  {
    names: ['clone'],
    kinds: issues,
    who: 'team',
    mean: (argument, { now, projects, projectId: here }) => {
      const { path, withNotes } = destinationIn(argument);
      const projectId = path === undefined ? here : projects.get(path);
      if (now.stage === 'new' || projectId === undefined) return undefined;
      const message = path === undefined ? 'Cloned this issue.' : `Cloned this issue to ${path}.`;
      return { effects: [{ do: 'clone', projectId, withNotes, leaves: true }], message };
    },
  },
  {
    names: ['promote'],
    kinds: issues,
    who: 'team',
    mean: (_argument, { now, may }) =>
      now.stage === 'here' && may.promote
        ? { effects: [{ do: 'promote', leaves: true }], message: 'Promoted issue to an epic.' }
        : undefined,
  },
];
