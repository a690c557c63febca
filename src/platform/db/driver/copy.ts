/** One connection that copies tables out and in as PostgreSQL's text format. */
import { pipeline } from 'node:stream/promises';
import { Client, type ClientConfig } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

export type CopyConnection = {
  /** One statement or several, without values; the rows of the last. */
  ask<Row extends object>(text: string): Promise<Row[]>;
  /** Returns the number of rows at its end. */
  copyOut(statement: string): AsyncGenerator<Buffer, number>;
  copyIn(statement: string, pieces: AsyncIterable<Buffer>): Promise<void>;
  end(): Promise<void>;
};

/** Values have one text, whatever the server, the database or the user is set to; and nothing ends what takes long. */
const asWritten = `
  select set_config(name, value, false) from (values ('datestyle', 'ISO, YMD'), ('intervalstyle', 'postgres'),
    ('extra_float_digits', '3'), ('bytea_output', 'hex'), ('timezone', 'UTC'), ('statement_timeout', '0'), ('lock_timeout', '0'),
    ('idle_in_transaction_session_timeout', '0'), ('idle_session_timeout', '0'), ('transaction_timeout', '0')) v (name, value)
  where current_setting(name, true) is not null`;

export async function openCopyConnection(config: ClientConfig): Promise<CopyConnection> {
  const client = new Client(config);
  let lost: Error | undefined;
  client.on('error', (error) => {
    lost = error;
  });
  await client.connect();
  await client.query(asWritten);
  return {
    async ask<Row extends object>(text: string) {
      if (lost) throw lost;
      const result: { rows: Row[] } | { rows: Row[] }[] = await client.query(text);
      return (Array.isArray(result) ? result.at(-1)?.rows : result.rows) ?? [];
    },
    async *copyOut(statement) {
      const copying = client.query(copyTo(statement));
      for await (const piece of copying) yield piece as Buffer;
      // The number may come after the last row; the next statement waits for it.
      await client.query('');
      return copying.rowCount;
    },
    async copyIn(statement, pieces) {
      await pipeline(pieces, client.query(copyFrom(statement)));
    },
    end: () => client.end(),
  };
}
