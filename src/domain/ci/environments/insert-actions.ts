/** Writes new environments and deployments. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { CompiledEnvironment } from '../file/compile-thread.ts';
import { guessTier, type Tier } from '../file/tier.ts';
import type { EnvironmentRow } from './queries.ts';
import { nameProblems, slugOfName } from './rules.ts';

type NewEnvironment = { name: string; tier?: Tier | null | undefined } & Partial<
  Pick<
    EnvironmentRow,
    'external_url' | 'description' | 'kubernetes_namespace' | 'flux_resource_path' | 'auto_stop_setting'
  >
>;

const valuesOf = (project: Pick<AuthorizedProject, 'id'>, { name, tier, ...others }: NewEnvironment) => {
  const time = now();
  return {
    auto_stop_setting: 'always',
    ...others,
    project_id: project.id,
    name,
    slug: slugOfName(name),
    tier: tier ?? guessTier(name),
    state: 'available',
    created_at: time,
    updated_at: time,
  };
};

/** Undefined where the name, or the slug, is taken. */
export const insertEnvironment = (
  tx: Db,
  project: Pick<AuthorizedProject, 'id'>,
  values: NewEnvironment,
): Promise<EnvironmentRow | undefined> =>
  tx
    .insertInto('environments')
    .values(valuesOf(project, values))
    .onConflict((taken) => taken.doNothing())
    .returningAll()
    .executeTakeFirst();

/** The environment of the name, made where it is missing; undefined where another one has its slug. */
export async function ensureEnvironment(
  tx: Db,
  project: Pick<AuthorizedProject, 'id'>,
  name: string,
): Promise<EnvironmentRow | undefined> {
  const [row] = [...(await ensureAll(tx, project, [{ name }])).values()];
  return row;
}

/** The environments of these names; those that are missing are made where their values are given. */
async function ensureAll(
  tx: Db,
  project: Pick<AuthorizedProject, 'id'>,
  wanted: readonly Pick<NewEnvironment, 'name' | 'tier'>[],
  others: readonly string[] = [],
): Promise<Map<string, EnvironmentRow>> {
  // In one order, whichever transaction makes them.
  const sorted = wanted.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  if (sorted.length > 0) {
    // A pipeline may name thousands: as one parameter.
    const rows = JSON.stringify(sorted.map((each) => valuesOf(project, each)));
    await sql`
      insert into environments (project_id, name, slug, tier, state, auto_stop_setting, created_at, updated_at)
      select * from jsonb_to_recordset(${rows}::text::jsonb) as r (project_id bigint, name text, slug text, tier text, state text,
        auto_stop_setting text, created_at timestamptz, updated_at timestamptz)
      on conflict do nothing`.execute(ahead(tx));
  }
  const names = [...new Set([...sorted.map(({ name }) => name), ...others])];
  if (names.length === 0) return new Map();
  const rows = await tx
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', project.id)
    .where(sql<boolean>`name = any(${names}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.name, row]));
}

/** The environments of compiled jobs, by name. Jobs that deploy make theirs; others have them where they are there. */
export function ensureOfJobs(
  tx: Db,
  project: Pick<AuthorizedProject, 'id'>,
  environments: readonly CompiledEnvironment[],
): Promise<Map<string, EnvironmentRow>> {
  const named = environments.filter(({ name }) => Object.keys(nameProblems(name)).length === 0);
  const made = named.filter(({ isMade }) => isMade).map(({ name, tier }) => ({ name, tier }));
  return ensureAll(
    tx,
    project,
    made,
    named.map(({ name }) => name),
  );
}

type NewDeployment = { ref: string; sha: string; tag: boolean; status: string; user_id: number };

/** Its number is the project's next. */
export async function insertDeployment(
  tx: Db,
  project: Pick<AuthorizedProject, 'id'>,
  environment: Pick<EnvironmentRow, 'id'>,
  values: NewDeployment & { finished_at: Date | null },
): Promise<number> {
  const time = now();
  const { id } = await tx
    .with('counted', (db) =>
      db
        .insertInto('project_counters')
        .values({ project_id: project.id, deployments: 1 })
        .onConflict((conflict) =>
          conflict
            .column('project_id')
            .doUpdateSet({ deployments: sql<number>`project_counters.deployments + 1` }),
        )
        .returning('deployments'),
    )
    .insertInto('deployments')
    .values((eb) => ({
      ...values,
      project_id: project.id,
      environment_id: environment.id,
      iid: eb.selectFrom('counted').select('deployments'),
      created_at: time,
      updated_at: time,
    }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
