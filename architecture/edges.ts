/**
 * Which capability may import another's index.ts: an acyclic list, and a decision each time one is added. What would
 * run against an arrow is a registration instead: the owner makes a value, and the reader finds it in its registry.
 */
const imported: Readonly<Record<string, readonly string[]>> = {
  accounts: ['hooks', 'search'],
  alerts: ['conversation', 'markdown', 'repositories', 'spam', 'work-items'],
  badges: ['repositories'],
  ci: ['accounts', 'conversation', 'hooks', 'repositories'],
  conversation: ['hooks', 'markdown', 'search', 'spam'],
  'error-tracking': ['conversation', 'spam', 'work-items'],
  'feature-flags': ['hooks'],
  feed: ['conversation'],
  integrations: ['hooks', 'markdown'],
  'merge-requests': [
    'conversation',
    'hooks',
    'markdown',
    'namespaces',
    'notifications',
    'planning',
    'repositories',
    'search',
    'spam',
    'work-items',
  ],
  namespaces: ['hooks', 'markdown', 'notifications', 'planning', 'repositories', 'search'],
  notifications: ['conversation', 'markdown', 'planning'],
  pages: [
    'accounts',
    'alerts',
    'ci',
    'conversation',
    'error-tracking',
    'integrations',
    'markdown',
    'merge-requests',
    'namespaces',
    'planning',
    'repositories',
    'snippets',
    'wikis',
    'work-items',
  ],
  planning: ['hooks', 'markdown', 'search'],
  repositories: ['conversation', 'hooks', 'markdown', 'notifications', 'search', 'spam'],
  snippets: ['conversation', 'hooks', 'markdown', 'notifications', 'repositories', 'search', 'spam'],
  tokens: ['hooks'],
  wikis: ['hooks', 'repositories', 'search'],
  'work-items': [
    'conversation',
    'hooks',
    'markdown',
    'notifications',
    'planning',
    'search',
    'spam',
    'uploads',
  ],
};

export const edges: readonly { from: string; to: string }[] = Object.entries(imported).flatMap(
  ([from, all]) => all.map((to) => ({ from, to })),
);
