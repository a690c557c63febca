/** Statements that write the rules of a merge request that its code owners make. */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { StatementParts } from '../../../platform/db/run-as-one.ts';
import type { OwnerRule } from './owner-rules.ts';

/** Rows `g` of the rules, for a `from`. */
export const given = (rules: readonly OwnerRule[]): RawBuilder<unknown> => sql`
  jsonb_to_recordset(${JSON.stringify(rules.map((rule, place) => ({ place, ...rule })))}::text::jsonb) as g (place integer, name text, section text, approvals_required integer,
    owner_names text[], owner_emails text[], owner_roles smallint[])`;

const isSame = sql`r.rule_type = 'code_owner' and r.name = g.name and r.section is not distinct from g.section
  and r.approvals_required = g.approvals_required and r.owner_names = g.owner_names
  and r.owner_emails = g.owner_emails and r.owner_roles = g.owner_roles`;

/** These rules are those of a new merge request. */
export const insertOwnerRules = (id: number, rules: readonly OwnerRule[]): StatementParts['statements'] =>
  rules.length === 0
    ? []
    : [
        sql`insert into approval_rules (merge_request_id, rule_type, name, section, approvals_required, owner_names,
            owner_emails, owner_roles, created_at, updated_at)
          select ${id}::bigint, 'code_owner', g.name, g.section, g.approvals_required, g.owner_names, g.owner_emails,
            g.owner_roles, ${now()}, ${now()}
          from ${given(rules)}
          where not exists (select from approval_rules r where r.merge_request_id = ${id} and ${isSame}) order by g.place`,
      ];

/** These rules take the place of those before; one that was there is as it was. */
export const replaceOwnerRules = (
  id: number,
  rules: readonly OwnerRule[] | undefined,
): StatementParts['statements'] =>
  rules === undefined
    ? []
    : [
        sql`delete from approval_rules r where r.merge_request_id = ${id} and r.rule_type = 'code_owner'
          and not exists (select from ${given(rules)} where ${isSame})`,
        ...insertOwnerRules(id, rules),
      ];
