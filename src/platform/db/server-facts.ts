/** What a PostgreSQL server is, and what of it is wrong. */
import type { Sql } from './driver/sql.ts';

/** What was found when something was looked at. */
export type Finding = {
  subject: string;
  /** `unknown`: could not be looked at, which is not wrong by itself. */
  state: 'good' | 'wrong' | 'unknown';
  text: string;
  /** What to do. */
  advice?: string;
};

/** The settings without which a crash loses what was saved. */
const durable = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

type ServerFacts = Record<(typeof durable)[number], string> & {
  version: string;
  number: number;
  trigrams: boolean;
};

/** Looks at the server behind a connection. */
export async function examineServer(sql: Sql): Promise<Finding[]> {
  const [facts] = await sql<ServerFacts[]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
           current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
           current_setting('synchronous_commit') as synchronous_commit,
           exists (select from pg_available_extensions where name = 'pg_trgm') as trigrams`;
  return facts ? judge(facts) : [];
}

function judge(about: ServerFacts): Finding[] {
  const off = durable.filter((name) => about[name] === 'off');
  return [
    about.number >= 150_000
      ? { subject: 'database', state: 'good', text: `PostgreSQL ${about.version}` }
      : {
          ...{ subject: 'database', state: 'wrong', text: `PostgreSQL ${about.version} is too old` },
          advice: 'Upgrade it to 15 or later.',
        },
    about.trigrams
      ? { subject: 'extensions', state: 'good', text: 'pg_trgm is there' }
      : {
          ...{ subject: 'extensions', state: 'wrong', text: 'pg_trgm is not there' },
          advice: "Install PostgreSQL's contrib package (Debian: it comes with postgresql-15).",
        },
    off.length === 0
      ? { subject: 'durability', state: 'good', text: `${durable.join(', ')} are on` }
      : {
          ...{
            subject: 'durability',
            state: 'wrong',
            text: `${off.join(', ')} off: a crash loses what was saved`,
          },
          advice: `Remove ${off.join(', ')} from postgresql.conf, or set to on.`,
        },
  ];
}
