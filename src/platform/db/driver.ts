/** The driver, mended as it is loaded; a build has mended it already. */
import { registerHooks } from 'node:module';
import { mendFile } from './driver-mends.ts';

const hooks = registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const source = mendFile(url, String(loaded.source));
    return source === undefined ? loaded : { ...loaded, source };
  },
});
export const { default: driver } = await import('postgres');
hooks.deregister();
