/** decide() and its SQL agree for every caller, wherever the caller sees the project. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import type { Actor } from '../actor.ts';
import {
  decide,
  type Feature,
  type FeatureLevel,
  isVisible,
  type ProjectAbility,
  projectPolicy,
  type Rule,
  type Standing,
} from '../policy/policy.ts';
import {
  DEVELOPER,
  GUEST,
  MAINTAINER,
  MINIMAL,
  NO_ACCESS,
  OWNER,
  PLANNER,
  REPORTER,
  type Role,
  visibilityLevel,
  visibilityNames,
} from '../policy/roles.ts';
import { mayInProjects } from './policy-sql.ts';

const ashlar = useApp({ still: true });
const credential = { via: 'password' };
const plain = { id: 7, admin: false, auditor: false, external: false, credential } as Actor;
const callers = {
  nobody: undefined,
  plain,
  external: { ...plain, external: true },
  auditor: { ...plain, auditor: true },
  admin: { ...plain, admin: true },
};
const roles: readonly Role[] = [NO_ACCESS, MINIMAL, GUEST, PLANNER, REPORTER, DEVELOPER, MAINTAINER, OWNER];
const levels: readonly FeatureLevel[] = ['enabled', 'private', 'disabled'];

const abilities = Object.entries<Rule>(projectPolicy).filter(
  ([, rule]) => rule.whileArchived && rule.visible === undefined,
);

test.each(abilities)('%s', async (ability, rule) => {
  const { db } = ashlar.app.services.database;
  for (const [name, caller] of Object.entries(callers)) {
    const cases = roles
      .filter((role) => caller !== undefined || role === NO_ACCESS)
      .flatMap((role) =>
        visibilityNames.flatMap((visibility) =>
          levels.flatMap((level) =>
            [true, false].map((public_jobs) => ({
              ...{ role, level, public_jobs },
              visibility: visibilityLevel(visibility),
            })),
          ),
        ),
      )
      .map((each) => {
        const standing: Standing = {
          signedIn: caller !== undefined,
          admin: caller?.admin ?? false,
          auditor: caller?.auditor ?? false,
          external: caller?.external ?? false,
          role: each.role,
          visibility: each.visibility,
          archived: false,
          features: { [rule.feature ?? ('no_part' as Feature)]: each.level, public_jobs: each.public_jobs },
        };
        return { ...each, standing };
      })
      .filter(({ standing }) => isVisible(standing));
    const rows = cases.map(
      ({ role, visibility, level, public_jobs }) =>
        sql`(${sql.lit(role)}, ${sql.lit(visibility)}, jsonb_build_object(${sql.lit(rule.feature ?? 'no_part')}::text, ${sql.lit(level)}::text, 'public_jobs', ${sql.lit(public_jobs)}))`,
    );
    const may = mayInProjects(ability as ProjectAbility, caller, sql`p.level`);
    const { rows: said } = await sql<{ may: boolean }>`
      select ${may} as may from (
        select null::bigint as id, null::bigint as namespace_id, * from (values ${sql.join(rows)}) v(level, visibility, settings)) p`.execute(
      db,
    );
    const told = cases.map(({ role, visibility, level, public_jobs }, index) => ({
      ...{ name, role, visibility, level, public_jobs },
      may: said[index]?.may,
    }));
    expect(told).toEqual(
      cases.map(({ role, visibility, level, public_jobs, standing }) => ({
        ...{ name, role, visibility, level, public_jobs },
        may: decide(rule, standing) === 'allowed',
      })),
    );
  }
});
