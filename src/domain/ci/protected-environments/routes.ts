/** Protected environments of projects, and tiers that groups protect: the same endpoints, mounted for both. */
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { describeGrant } from '../../repositories/index.ts';
import { changeProtection, protect, unprotect } from './actions.ts';
import { type AccessRow, type ProtectedRow, selectOne, selectProtected } from './queries.ts';
import { ChangeInput, OneProtected, ProtectedEnvironment, ProtectInput } from './schema.ts';

type Home = { kind: 'project' | 'group'; what: string; manage: Access<ResourceParent, Actor> };

const homes: readonly Home[] = [
  { kind: 'project', what: 'environment of a project', manage: onProject('manage_protected_environments') },
  { kind: 'group', what: 'tier in a group', manage: onGroup('manage_protected_environments') },
];

const describe = ({ title, required_approvals: _, ...entry }: AccessRow) => ({
  ...entry,
  access_level_description: describeGrant({ access_level: entry.access_level, title }),
});

const present = (row: ProtectedRow): ProtectedEnvironment => ({
  name: row.name,
  deploy_access_levels: row.entries.map(describe),
  required_approval_count: row.required_approval_count,
  approval_rules: row.rules.map((rule) => ({
    ...describe(rule),
    required_approvals: rule.required_approvals ?? 1,
  })),
});

function endpointsOf({ kind, what, manage }: Home): Endpoint[] {
  const path = `/${kind}s/:id/protected_environments` as const;
  const pathOfOne = `${path}/:name` as const;
  return [
    listing({
      method: 'GET',
      path,
      summary: `Protections of any ${what}, the oldest first.`,
      access: manage,
      tier: 'premium',
      page: 'offset',
      item: ProtectedEnvironment,
      handle: async ({ db, subject, page }) => mapPage(await selectProtected(db, subject, page), present),
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Protects an ${what}.`.replace('an tier', 'a tier'),
      access: manage,
      tier: 'premium',
      also: [409, 422],
      input: ProtectInput[kind] as typeof ProtectInput.project,
      reply: ProtectedEnvironment,
      handle: async (context) => present(await protect(context, context.input)),
    }),
    endpoint({
      method: 'GET',
      path: pathOfOne,
      summary: `The protection of one ${what}.`,
      access: manage,
      tier: 'premium',
      input: OneProtected,
      reply: ProtectedEnvironment,
      handle: async ({ db, subject, input }) => present(found(await selectOne(db, subject, input.name))),
    }),
    endpoint({
      method: 'PUT',
      path: pathOfOne,
      summary: `Changes the protection of one ${what}; entries without an id are added.`,
      access: manage,
      tier: 'premium',
      also: [422],
      input: ChangeInput,
      reply: ProtectedEnvironment,
      handle: async (context) => present(await changeProtection(context, context.input)),
    }),
    endpoint({
      method: 'DELETE',
      path: pathOfOne,
      summary: `Ends the protection of one ${what}.`,
      access: manage,
      tier: 'premium',
      input: OneProtected,
      reply: noContent,
      handle: async (context) => {
        await unprotect(context, context.input.name, context.unmodified);
        return null;
      },
    }),
  ];
}

export const protectedEnvironmentEndpoints: Endpoint[] = homes.flatMap(endpointsOf);
