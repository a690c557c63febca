/**
 * Makes dist/, from which the program starts: npm runs this after it has installed the dependencies of a
 * clone, and before it packs the package. Node runs no TypeScript inside node_modules, and a clone starts
 * twice as fast.
 */
const bundler = await import('./bundle.ts').catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.warn(
    'no bundler is installed (npm ci --omit=dev): the program will start from its sources, more slowly',
  );
});
await bundler?.bundle(['src/cli.ts'], 'dist');
