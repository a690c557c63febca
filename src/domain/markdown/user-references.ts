/** References to users and groups: `@name`. */
import { selectGroups } from '../../kernel/access/find.ts';
import { groupWebUrl } from '../../kernel/namespaces/records.ts';
import { link } from './links.ts';
import type { Link, ReferenceDefinition } from './reference-definitions.ts';
import type { Reference } from './references.ts';
import type { RenderContext } from './render-context.ts';
import { selectPeople } from './user-queries.ts';

async function findPeople(context: RenderContext, references: readonly Reference[]): Promise<Link[]> {
  const { services, reader } = context;
  const { db, sql: driver } = services.database;
  const names = [...new Set(references.map(({ name }) => name.toLowerCase()))];
  const people = await selectPeople(db, names);
  const byName = new Map(people.map((person) => [person.username.toLowerCase(), person]));
  const others = names.filter((name) => !byName.has(name));
  const groups = await selectGroups(driver, reader, 'read_group', others);
  const baseUrl = services.baseUrl();
  return references.flatMap((reference): Link[] => {
    const common = { kind: 'user', className: 'gfm-project_member', text: reference.text } as const;
    const person = byName.get(reference.name.toLowerCase());
    if (person) {
      const href = `${baseUrl}/${person.username}`;
      return [[reference, link({ ...common, href, title: person.name })]];
    }
    const group = groups.get(reference.name.toLowerCase());
    if (!group) return [];
    const href = groupWebUrl({ baseUrl }, group.row.full_path);
    return [[reference, link({ ...common, href, title: group.row.name })]];
  });
}

export const userReferences: ReferenceDefinition = { kind: 'user', find: findPeople };
