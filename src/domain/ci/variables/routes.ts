/** CI variables of projects, of groups and of the instance: the same endpoints, mounted for each. */
import { type Access, onGroup, onInstance, onProject } from '../../../kernel/access/access.ts';
import type { ParentKind, ParentOrInstance } from '../../../kernel/access/resource-parents.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createVariable, deleteVariable, oneOf, updateVariable } from './actions.ts';
import { presentVariable } from './present.ts';
import { selectNamed, selectVariables, type VariableName } from './queries.ts';
import type { VariableChanges } from './rules.ts';
import { inputsOf, recordOf } from './schema.ts';

type Home = { kind: ParentKind; path: string; whose: string; manage: Access<ParentOrInstance, Actor> };

const homes: readonly Home[] = [
  {
    kind: 'project',
    path: '/projects/:id/variables',
    whose: 'of a project',
    manage: onProject('manage_ci_variables'),
  },
  {
    kind: 'group',
    path: '/groups/:id/variables',
    whose: 'of a group',
    manage: onGroup('manage_ci_variables'),
  },
  { kind: 'instance', path: '/admin/ci/variables', whose: 'of the instance', manage: onInstance },
];

type OneInput = { key: string; filter?: { environment_scope?: string } };

const nameOf = ({ key, filter }: OneInput): VariableName => ({
  key,
  environment_scope: filter?.environment_scope,
});

function endpointsOf({ kind, path, whose, manage }: Home): Endpoint[] {
  const record = recordOf(kind);
  const { one, create, update } = inputsOf(kind);
  // Several variables of one key need a filter.
  const also = kind === 'instance' ? {} : { also: [409] as const };
  return [
    listing({
      method: 'GET',
      path,
      summary: `CI variables ${whose}, the oldest first.`,
      access: manage,
      page: 'offset',
      item: record,
      handle: async (context) =>
        mapPage(await selectVariables(context.db, context.subject, context.page), (row) =>
          presentVariable(context, row),
        ),
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Makes a CI variable ${whose}.`,
      access: manage,
      input: create,
      reply: record,
      handle: async (context) => presentVariable(context, await createVariable(context, context.input)),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:key`,
      summary: `A CI variable ${whose}.`,
      access: manage,
      ...also,
      input: one,
      reply: record,
      handle: async (context) => {
        const { db, subject, input } = context;
        return presentVariable(context, oneOf(subject, await selectNamed(db, subject, nameOf(input))));
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/:key`,
      summary: `Changes a CI variable ${whose}; what is not sent stays as it is.`,
      access: manage,
      ...also,
      input: update,
      reply: record,
      handle: async (context) => {
        const { key, filter, ...changes } = context.input as OneInput & VariableChanges;
        const row = await updateVariable(context, nameOf({ key, ...(filter && { filter }) }), changes);
        return presentVariable(context, row);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:key`,
      summary: `Deletes a CI variable ${whose}.`,
      access: manage,
      ...also,
      input: one,
      reply: noContent,
      handle: async (context) => {
        await deleteVariable(context, nameOf(context.input), context.unmodified);
        return null;
      },
    }),
  ];
}

export const variableEndpoints: Endpoint[] = homes.flatMap(endpointsOf);
