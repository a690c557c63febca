/** Statements that take approvals away, whatever the reason. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { StatementParts } from '../../../platform/db/run-as-one.ts';
import { isOwner } from '../../repositories/index.ts';
import { given } from '../code-owners/owner-rule-actions.ts';
import type { OwnerRule } from '../code-owners/owner-rules.ts';

/** Approvals that go: all, those of these users, or those of the owners by these rules. */
export type LostApprovals = 'all' | readonly number[] | OwnersOfRules;
type OwnersOfRules = { ownersOf: readonly OwnerRule[]; projectId: number };

const isOneOf = ({ ownersOf, projectId }: OwnersOfRules): RawBuilder<SqlBool> => sql<SqlBool>`exists (
  select from (select user_id) k, (select g.*, p.id as of_project_id, n.ancestor_ids as of_ancestor_ids
    from ${given(ownersOf)}, projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}) f
  where ${isOwner(`'${now().toISOString().slice(0, 10)}'::date`)})`;

function isTheirsOf(of: LostApprovals): RawBuilder<SqlBool> {
  if (of === 'all') return sql<SqlBool>`true`;
  return 'ownersOf' in of ? isOneOf(of) : sql<SqlBool>`user_id = any(${[...of]}::bigint[])`;
}

const isNothing = (of: LostApprovals): boolean =>
  (typeof of !== 'string' && 'ownersOf' in of ? of.ownersOf : of).length === 0;

/** The row remembers who gave these approvals, in that order, when they go by the same statement. */
export const rememberApprovers = (id: number, of: LostApprovals) =>
  isNothing(of)
    ? {}
    : {
        lost_approver_ids: sql<
          number[]
        >`lost_approver_ids || array(select user_id from merge_request_approvals
          where merge_request_id = ${id} and ${isTheirsOf(of)} order by created_at, user_id)`,
      };

/** These approvals go, and as reviewers those who gave them are such as approve no longer. */
export function removeApprovals(tx: Db, id: number, of: LostApprovals): StatementParts['statements'] {
  if (isNothing(of)) return [];
  const isTheirs = isTheirsOf(of);
  return [
    tx.deleteFrom('merge_request_approvals').where('merge_request_id', '=', id).where(isTheirs),
    tx
      .updateTable('merge_request_reviewers')
      .set({ state: 'unapproved' })
      .where('merge_request_id', '=', id)
      .where('state', '=', 'approved')
      .where(isTheirs),
  ];
}
