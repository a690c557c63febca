/**
 * Which capability may import another's index.ts: an acyclic list, and a decision each time one is added. Everything
 * else that capabilities share lives in src/core.
 */
export const edges: readonly { from: string; to: string }[] = [
  // Owners of noteables mount their notes, threads and awards.
  { from: 'issues', to: 'conversation' },
  { from: 'epics', to: 'conversation' },
  { from: 'snippets', to: 'conversation' },
  { from: 'repositories', to: 'conversation' },
  { from: 'alerts', to: 'conversation' },
  // What to-do items are about.
  { from: 'issues', to: 'todos' },
  { from: 'epics', to: 'todos' },
  { from: 'alerts', to: 'todos' },
  { from: 'repositories', to: 'todos' },
];
