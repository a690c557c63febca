/**
 * Memory for requests of git clients: the refs that a push is to change, and the wants and haves of a fetch.
 * It is kept until git has ended. A few names always fit; long lists share the rest. The largest push may
 * have as much as one caller.
 */
import { createMemoryShare } from '../../../platform/fair-share.ts';

const MEBIBYTE = 1_048_576;

export const requestMemory = createMemoryShare({
  bytes: 96 * MEBIBYTE,
  perCaller: 48 * MEBIBYTE,
  // Two pieces of a body.
  free: 131_072,
});
