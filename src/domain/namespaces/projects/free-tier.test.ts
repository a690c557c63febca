/** Below premium: the records have the fields that the version implies. */
import { describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject, makeUser } from '../../../../test/support/factories.ts';

const free = useApp({ env: { ASHLAR_TIER: 'free' } });
const premium = useApp({ env: { ASHLAR_TIER: 'premium' } });

const premiumOfProjects = [
  'allow_pipeline_trigger_approve_deployment',
  'approvals_before_merge',
  'compliance_frameworks',
  'issues_template',
  'merge_pipelines_enabled',
  'merge_requests_template',
  'merge_trains_enabled',
  'merge_trains_skip_train_allowed',
  'only_allow_merge_if_all_status_checks_passed',
  'repository_size_limit',
  'requirements_access_level',
  'requirements_enabled',
  'security_and_compliance_enabled',
];
const premiumOfUsers = [
  'enterprise_group_associated_at',
  'enterprise_group_id',
  'is_auditor',
  'provisioned_by_group_id',
  'using_license_seat',
];

/** The fields that records of the premium tier have and those of the free one lack, at one address of each. */
async function missing(path: (app: TestApp) => Promise<string>): Promise<string[]> {
  const namesOf = async (app: TestApp): Promise<string[]> => {
    const body = bodyOf(await app.root(`GET ${await path(app)}`), 200);
    return Object.keys(Array.isArray(body) ? body[0] : body);
  };
  const [below, above] = [await namesOf(free), await namesOf(premium)];
  expect(below.filter((name) => !above.includes(name))).toEqual([]);
  return above.filter((name) => !below.includes(name)).toSorted();
}

describe('below premium', () => {
  test('version and metadata are those of the free edition', async () => {
    for (const path of ['/version', '/metadata']) {
      const [below, above] = [
        bodyOf(await free.root(`GET ${path}`), 200),
        bodyOf(await premium.root(`GET ${path}`), 200),
      ];
      expect([above.version, above.enterprise]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+-ee$/), true]);
      expect(below).toEqual({ ...above, version: above.version.replace('-ee', ''), enterprise: false });
    }
  });

  test('records have no fields of the paid tiers', async () => {
    const project = async (app: TestApp) => `/projects/${(await makeProject(app)).id}`;
    expect(await missing(project)).toEqual(premiumOfProjects);
    expect(await missing(async () => '/projects')).toEqual(premiumOfProjects);
    expect(await missing(async (app) => `/users/${(await makeUser(app)).id}`)).toEqual(premiumOfUsers);
    expect(await missing(async () => '/user')).toEqual(premiumOfUsers);
    const branch = async (app: TestApp) => {
      const { id } = await makeProject(app);
      const path = `/projects/${id}/protected_branches`;
      bodyOf(await app.root(`POST ${path}`, { body: { name: 'main' } }), 201);
      return path;
    };
    expect(await missing(branch)).toEqual([
      'code_owner_approval_required',
      'inherited',
      'unprotect_access_levels',
    ]);
    expect(await missing(async (app) => `/groups/${(await makeGroup(app)).id}`)).toContain('membership_lock');
  });

  test('settings of the paid tiers are passed over, and not kept for later', async () => {
    const { id } = await makeProject(free);
    const body = {
      approvals_before_merge: 2,
      requirements_access_level: 'disabled',
      issues_template: 'What?',
      merge_requests_template: 'Why?',
      lfs_enabled: false,
    };
    const changed = bodyOf(await free.root(`PUT /projects/${id}`, { body }), 200);
    expect(changed.lfs_enabled).toBe(false);
    expect(Object.keys(changed).filter((name) => premiumOfProjects.includes(name))).toEqual([]);
    const [row] = await free.app.services.database.sql`select settings from projects where id = ${id}`;
    expect(row?.settings).toEqual({ lfs_enabled: false });
    const there = await makeProject(premium);
    expect(bodyOf(await premium.root(`PUT /projects/${there.id}`, { body }), 200)).toMatchObject(body);
  });
});
