/** CI variables as records. */
import { isInstance, type ParentOrInstance } from '../../../kernel/access/resource-parents.ts';
import { unseal } from '../../../platform/secret.ts';
import type { VariableRow } from './queries.ts';
import type { Variable } from './rules.ts';

/** The variable that a row keeps. */
export const variableOf = (secretKey: string, row: VariableRow): Variable => ({
  key: row.key,
  value: unseal(secretKey, row.value_sealed),
  variable_type: row.variable_type as Variable['variable_type'],
  protected: row.protected,
  masked: row.masked,
  hidden: row.hidden,
  raw: row.raw,
  environment_scope: row.environment_scope,
  description: row.description,
});

type Context = { services: { secretKey: string }; subject: ParentOrInstance };

export function presentVariable({ services, subject }: Context, row: VariableRow) {
  const { hidden, environment_scope, value, ...shown } = variableOf(services.secretKey, row);
  return {
    ...shown,
    value: hidden ? null : value,
    ...(!isInstance(subject) && { hidden, environment_scope }),
  };
}
