/** `ashlar serve` with the inventory filled up. */
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// As bin/ashlar.js has it.
module.enableCompileCache(join(homedir(), '.cache', 'ashlar', 'node'));
const { readConfig } = await import('../src/kernel/config.ts');
const { serve } = await import('../src/main.ts');

process.exitCode = await serve(readConfig(), async () => (await import('./many-endpoints.ts')).many);
