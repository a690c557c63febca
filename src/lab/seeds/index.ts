/** Seeds: worlds that a document describes, planted into an instance and written out of one. */
export { parseSeed, type Seed, SeedError } from './parse.ts';
export { type Planted, plantSeed } from './plant.ts';
export type { SeedDocument } from './schema.ts';
export { seedText, writeSeed } from './write.ts';
