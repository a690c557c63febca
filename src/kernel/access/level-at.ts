/** The level of somebody in the project or group of a path. */
import type { Sql } from '../../platform/db/driver/sql.ts';
import type { Caller } from '../actor.ts';
import { findGroup, findProject } from './find-queries.ts';

/** 0 for who is no member, and for a path of neither. */
export async function levelAt(sql: Sql, caller: Caller, path: string): Promise<number> {
  if (!caller || /^\d+$/.test(path)) return 0;
  const project = await findProject(sql, caller, path);
  if (project) return Math.max(project.level_project, project.level_group);
  return (await findGroup(sql, caller, path))?.level ?? 0;
}
