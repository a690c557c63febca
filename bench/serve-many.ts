/** `ashlar serve` with the inventory filled up, loaded as bin/ashlar.js loads it. */
const loading: { loadQuickly(): void } = await import(new URL('../bin/loading.js', import.meta.url).href);
loading.loadQuickly();
const { readConfig } = await import('../src/kernel/config.ts');
const { serve } = await import('../src/main.ts');

process.exitCode = await serve(readConfig(), async () => (await import('./many-endpoints.ts')).many);
