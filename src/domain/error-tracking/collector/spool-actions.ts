/** Writes reports to the spool. */

import { now } from '../../../platform/clock.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import type { Packing } from '../reports/packing.ts';
import type { ReportForm } from '../reports/report.ts';
import { activeIngestKeys } from './queries.ts';

export type Report = {
  /** A client key of the project. */
  key: string;
  form: ReportForm;
  packing: Packing;
  body: Uint8Array;
  /** The client's address, stored where the project keeps addresses. */
  address: string;
};

/** The bodies are sent as one value with offsets: the driver has no arrays of bytes. */
const insertion = `
  with given as materialized (
    select nextval(pg_get_serial_sequence('error_spool', 'id')) as id, g.*
    from unnest($1::text[], $2::text[], $3::text[], $5::integer[], $6::integer[], $8::text[])
      with ordinality as g(key, form, packing, start, length, address, place)),
  stored as (
    insert into error_spool (id, project_id, form, encoding, body, address, received_at) overriding system value
    select g.id, p.id, g.form, g.packing, substring($4::bytea from g.start for g.length),
      case when s.keep_addresses then g.address end, $7::timestamptz
    from given g join (${activeIngestKeys}) on c.public_key = g.key and c.active
    returning id)
  select place from given join stored using (id)`;

/** Whether each report was stored; one with an inactive key was not. */
export async function insertReports(sql: Sql, reports: readonly Report[]): Promise<boolean[]> {
  const lengths = reports.map(({ body }) => body.length);
  const starts: number[] = [];
  let start = 1;
  for (const length of lengths) {
    starts.push(start);
    start += length;
  }
  const rows = await sql.unsafe<{ place: number }[]>(
    insertion,
    [
      reports.map(({ key }) => key),
      reports.map(({ form }) => form),
      reports.map(({ packing }) => packing),
      reports.map(({ body }) => body),
      starts,
      lengths,
      now(),
      reports.map(({ address }) => address),
    ],
    { prepare: true },
  );
  const stored = new Set(rows.map(({ place }) => place));
  return reports.map((_, index) => stored.has(index + 1));
}
