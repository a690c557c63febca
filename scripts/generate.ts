/**
 * Writes the generated files that are committed: schema.sql and the row types from the migrations,
 * docs/settings.md from the settings, seed.schema.json and docs/lab-seeds.md from the schema of seeds, openapi.json and
 * docs/deprecations.md from the endpoints. With `--check` nothing is written, and
 * a difference is a failure.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seedSchemaText } from '../src/lab/seeds/schema.ts';
import { connect } from '../src/platform/db/database.ts';
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts';
import { migrate } from '../src/platform/db/migrations.ts';
import { rowTypes, schemaSnapshot } from '../src/platform/db/snapshot.ts';
import { renderDeprecationsDocs } from './deprecations-docs.ts';
import { renderSeedsDocs } from './seeds-docs.ts';
import { renderSettingsDocs } from './settings-docs.ts';

const checking = process.argv.includes('--check');

async function fromMigrations(): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-generate-'));
  const server = await startEmbedded(folder, { settings: { fsync: 'off' } });
  const sql = connect(server.connection, { max: 1, statementTimeout: 0, name: 'generate' });
  try {
    await migrate(sql, 'migrations');
    return { 'schema.sql': await schemaSnapshot(sql), 'src/platform/db/rows.ts': await rowTypes(sql) };
  } finally {
    await sql.end();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In this order: the endpoints are read with the row types that were just written. */
const generated: (() => Promise<Record<string, string>>)[] = [
  fromMigrations,
  async () => ({ 'docs/settings.md': renderSettingsDocs() }),
  async () => ({ 'seed.schema.json': seedSchemaText(), 'docs/lab-seeds.md': renderSeedsDocs() }),
  async () => {
    const { describedCapabilities, openApiText } = await import('../src/commands/openapi.ts');
    const deprecations = renderDeprecationsDocs(describedCapabilities());
    return { 'openapi.json': `${openApiText()}\n`, 'docs/deprecations.md': deprecations };
  },
];

const stale: string[] = [];
for (const make of generated) {
  for (const [path, text] of Object.entries(await make())) {
    if (!checking) writeFileSync(path, text);
    else if (readFileSync(path, 'utf8') !== text) stale.push(path);
  }
}
if (stale.length > 0) {
  process.stderr.write(`not up to date: ${stale.join(', ')}; run \`npm run generate\` and commit\n`);
  process.exitCode = 1;
}
