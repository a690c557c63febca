/** Mirrors: repositories of other servers that projects are pulled from and pushed to, and projects made from them. */

export { mirrorsCapability } from './capability.ts';
export { findOrigin, type OriginFields } from './origins.ts';
export { presentSource } from './present.ts';
export { insertSource, requirePullChanges, requireUser, setSource } from './pull-actions.ts';
export { selectSource, selectSources } from './queries.ts';
export { deprecatedPullOptions, PULL_MIRROR } from './schema.ts';
