/** Seeds: worlds that a document describes, planted into an instance and written out of one. */
export { parseSeed, SeedError } from './parse.ts';
export { type Planted, plantSeed } from './plant.ts';
export { seedText, writeSeed } from './write.ts';
