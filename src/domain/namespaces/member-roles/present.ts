/** Custom roles as records: each ability by its public name. */
import { type MemberRole, type PublicAbility, publicNames } from './schema.ts';

/** As the database has it, also inside of other rows. */
export type MemberRoleRow = {
  id: number;
  namespace_id: number | null;
  name: string;
  description: string | null;
  base_access_level: number;
  abilities: string[];
};

export function presentMemberRole(row: MemberRoleRow): MemberRole {
  const has = publicNames.map((name): [PublicAbility, boolean] => [name, row.abilities.includes(name)]);
  return {
    id: row.id,
    group_id: row.namespace_id,
    name: row.name,
    description: row.description,
    base_access_level: row.base_access_level,
    ...(Object.fromEntries(has) as Record<PublicAbility, boolean>),
  };
}
