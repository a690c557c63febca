/**
 * Makes dist/, from which the program starts (`npm run build`): npm runs this after it has installed the
 * dependencies of a clone, and before it packs the package. Node runs no TypeScript inside node_modules, and
 * what is built starts twice as fast as the sources (`npm run dev`).
 */
const bundler = await import('./bundle.ts').catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.warn(
    'no bundler is installed (npm ci --omit=dev): the program is not built, `npm run dev` serves its sources',
  );
});
await bundler?.bundle(['src/cli.ts'], 'dist');
await bundler?.bundleLibrary('dist');
