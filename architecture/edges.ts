/**
 * Which capability may import another's index.ts: an acyclic list, and a decision each time one is added. Everything
 * else that capabilities share lives in src/core.
 */
export const edges: readonly { from: string; to: string }[] = [];
