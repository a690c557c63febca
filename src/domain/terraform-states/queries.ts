/** States of projects. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import type { TerraformStatesTable, TerraformStateVersionsTable } from '../../platform/db/rows.ts';
import type { Lock } from './rules.ts';

export type StateRow = Omit<Selectable<TerraformStatesTable>, 'lock'> & { lock: Lock | null };
export type VersionRow = Selectable<TerraformStateVersionsTable>;
type Project = Pick<AuthorizedProject, 'id'>;

const stateOf = (db: Db, project: Project, name: string) =>
  db.selectFrom('terraform_states').selectAll().where('project_id', '=', project.id).where('name', '=', name);

// Only locks are written to the column.
export const selectState = async (db: Db, project: Project, name: string): Promise<StateRow | undefined> =>
  (await stateOf(db, project, name).executeTakeFirst()) as StateRow | undefined;

/** Locked until the transaction ends. */
export const lockState = async (tx: Db, project: Project, name: string): Promise<StateRow | undefined> =>
  (await stateOf(tx, project, name).forUpdate().executeTakeFirst()) as StateRow | undefined;

/** The same; it is made where there is none. Undefined where the project is gone. */
export async function keepState(tx: Db, project: Project, name: string): Promise<StateRow | undefined> {
  const time = now();
  await sql`
    insert into terraform_states (project_id, name, created_at, updated_at)
    select id, ${name}, ${time}, ${time} from projects where id = ${project.id} and not deleting for key share
    on conflict (project_id, name) do nothing`.execute(ahead(tx));
  return lockState(tx, project, name);
}

const versionsOf = (db: Db, { id }: Pick<StateRow, 'id'>) =>
  db.selectFrom('terraform_state_versions').selectAll().where('state_id', '=', id);

/** That of the highest serial number: a program that comes late with an older one hides nothing. */
export const selectNewest = (db: Db, state: Pick<StateRow, 'id'>): Promise<VersionRow | undefined> =>
  versionsOf(db, state).orderBy('serial', 'desc').limit(1).executeTakeFirst();

export const selectVersion = (
  db: Db,
  state: Pick<StateRow, 'id'>,
  serial: number,
): Promise<VersionRow | undefined> => versionsOf(db, state).where('serial', '=', serial).executeTakeFirst();
