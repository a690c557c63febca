/**
 * Acknowledged writes are on the disk: the embedded server as it is started for use, not as for the other
 * tests.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../src/platform/db/database.ts';
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts';

test('fsync, full_page_writes and synchronous_commit are on, in every session of ours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-durability-'));
  const server = await startEmbedded(folder);
  const sql = connect(server.connection, { max: 1, statementTimeout: 5_000, name: 'tests' });
  try {
    const [found] = await sql`
      select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
             current_setting('synchronous_commit') as synchronous_commit`;
    expect(found).toEqual({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' });
  } finally {
    await sql.end();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
