/** Every statement of the spec's "Versioning" that is about existing endpoints, over HTTP. */
import { describe, expect, it } from 'vitest';
import { useApp } from '../../support/app.ts';
import { withSettings } from '../../support/browser.ts';
import { bodyOf, createUser, makeGroup, makeProject } from '../../support/factories.ts';
import { makeMergeRequest, makeReviewedProject } from '../../support/merge-requests.ts';

const ashlar = useApp();
const free = useApp({ env: { ASHLAR_TIER: 'free' } });

describe('Versioning', () => {
  it('1. the major version is 4 and appears in every path as /api/v4', async () => {
    expect((await ashlar.call('GET /api/v4/projects', { raw: true })).status).toBe(200);
    expect((await ashlar.call('GET /projects', { raw: true })).status).toBe(404);
    expect((await ashlar.call('GET /api/projects', { raw: true })).status).toBe(404);
    const { body } = await ashlar.call('GET /openapi.json');
    expect(body.servers).toMatchObject([{ url: '/api/v4' }]);
    const former = await ashlar.call('GET /api/v3/projects', { raw: true });
    expect([former.status, former.body.error]).toEqual([
      410,
      'API V3 is no longer supported. Use API V4 instead.',
    ]);
  });

  it('2. there is no explicit minor version', async () => {
    for (const version of ['v4.0', 'v4.1', '4']) {
      expect((await ashlar.call(`GET /api/${version}/projects`, { raw: true })).status).toBe(404);
    }
  });

  it('3. all deprecations are recorded: the description marks them, and says what to use', async () => {
    const { body } = await ashlar.call('GET /openapi.json');
    const ofProject = JSON.stringify(body.components.schemas.PutProjectsIdBody);
    expect(ofProject).toContain('Deprecated: use ci_pipeline_variables_minimum_override_role.');
    const ofGroup = JSON.stringify(body.components.schemas.PutGroupsIdBody);
    expect(ofGroup).toContain('Deprecated: use default_branch_protection_defaults.');
  });

  it('5. a lower edition lacks what belongs to a higher one', async () => {
    expect((await ashlar.root('GET /audit_events')).status).toBe(200);
    expect((await free.root('GET /audit_events')).status).toBe(403);
    const [here, there] = [await makeGroup(ashlar), await makeGroup(free)];
    expect(bodyOf(await ashlar.root(`GET /groups/${here.id}`), 200)).toHaveProperty('membership_lock');
    expect(bodyOf(await free.root(`GET /groups/${there.id}`), 200)).not.toHaveProperty('membership_lock');
  });

  it('6. no version 5 is under development', async () => {
    expect((await ashlar.call('GET /api/v5/projects', { raw: true })).status).toBe(404);
  });
});

describe('Versioning, deprecations', () => {
  describe('null for private_profile on user create and update', () => {
    it.each([true, false])('stands for the default of the instance: %s', async (standard) => {
      await withSettings(ashlar, { user_defaults_to_private_profile: standard }, async () => {
        const user = await createUser(ashlar, { private_profile: null });
        const shown = async () => bodyOf(await ashlar.root(`GET /users/${user.id}`), 200).private_profile;
        expect(await shown()).toBe(standard);
        const put = async (value: boolean | null) =>
          bodyOf(await ashlar.root(`PUT /users/${user.id}`, { body: { private_profile: value } }), 200);
        await put(!standard);
        expect(await shown()).toBe(!standard);
        await put(null);
        expect(await shown()).toBe(standard);
      });
    });
  });

  describe('default_branch_protection: use default_branch_protection_defaults', () => {
    const full = {
      allowed_to_push: [{ access_level: 40 }],
      allow_force_push: false,
      allowed_to_merge: [{ access_level: 40 }],
      developer_can_initial_push: false,
    };
    const none = {
      ...full,
      allowed_to_push: [{ access_level: 30 }],
      allowed_to_merge: [{ access_level: 30 }],
      allow_force_push: true,
    };

    it('of a group: either is accepted, both are shown, and they say the same', async () => {
      const group = await makeGroup(ashlar, { default_branch_protection: 0 });
      const shown = async () => {
        const body = bodyOf(await ashlar.root(`GET /groups/${group.id}`), 200);
        return [body.default_branch_protection, body.default_branch_protection_defaults];
      };
      expect(await shown()).toEqual([0, none]);
      const body = { default_branch_protection_defaults: full };
      bodyOf(await ashlar.root(`PUT /groups/${group.id}`, { body }), 200);
      expect(await shown()).toEqual([2, full]);
    });

    it('of the instance', async () => {
      const put = async (body: Record<string, unknown>) => {
        const settings = bodyOf(await ashlar.root('PUT /application/settings', { body }), 200);
        return [settings.default_branch_protection, settings.default_branch_protection_defaults];
      };
      expect(await put({ default_branch_protection: 0 })).toEqual([0, none]);
      expect(await put({ default_branch_protection_defaults: full })).toEqual([2, full]);
    });

    it('another number is refused', async () => {
      const group = await makeGroup(ashlar);
      const response = await ashlar.root(`PUT /groups/${group.id}`, {
        body: { default_branch_protection: 5 },
      });
      expect([response.status, response.body.message]).toEqual([
        400,
        { default_branch_protection: ['does not have a valid value'] },
      ]);
    });
  });

  describe('restrict_user_defined_variables: use ci_pipeline_variables_minimum_override_role', () => {
    const change = async (id: number, body: Record<string, unknown>) => {
      const shown = bodyOf(await ashlar.root(`PUT /projects/${id}`, { body }), 200);
      return [shown.restrict_user_defined_variables, shown.ci_pipeline_variables_minimum_override_role];
    };

    it('the value developer reproduces restrict_user_defined_variables set to false', async () => {
      const { id } = await makeProject(ashlar);
      expect(await change(id, { restrict_user_defined_variables: true })).toEqual([true, 'maintainer']);
      expect(await change(id, { ci_pipeline_variables_minimum_override_role: 'developer' })).toEqual([
        false,
        'developer',
      ]);
      expect(await change(id, { ci_pipeline_variables_minimum_override_role: 'owner' })).toEqual([
        true,
        'owner',
      ]);
      expect(await change(id, { restrict_user_defined_variables: false })).toEqual([false, 'developer']);
    });
  });
});

describe('Versioning, deprecations of merge requests', () => {
  const opened = async () => {
    const project = await makeReviewedProject(ashlar);
    const { iid } = await makeMergeRequest(ashlar, project.id, 'topic');
    return { project, path: `/projects/${project.id}/merge_requests/${iid}` };
  };
  const shownAt = async (path: string) => bodyOf(await ashlar.root(`GET ${path}`), 200);

  it('merged_by: use merge_user, which says the same; merge_status: use detailed_merge_status', async () => {
    const { path } = await opened();
    expect(await shownAt(path)).toMatchObject({
      ...{ merged_by: null, merge_user: null },
      ...{ merge_status: 'can_be_merged', detailed_merge_status: 'mergeable' },
    });
    bodyOf(await ashlar.root(`PUT ${path}/merge`), 200);
    const merged = await shownAt(path);
    expect([merged.merge_user.username, merged.detailed_merge_status]).toEqual(['root', 'not_open']);
    expect(merged.merged_by).toEqual(merged.merge_user);
  });

  it('merge_status tells what both branches say, detailed_merge_status all that is in the way', async () => {
    const { path } = await opened();
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { title: 'Draft: later' } }), 200);
    expect(await shownAt(path)).toMatchObject({
      ...{ merge_status: 'can_be_merged', detailed_merge_status: 'draft_status' },
    });
  });

  it('single merge request changes: use the list of diffs, which has the same files', async () => {
    const { path } = await opened();
    const { changes, overflow } = await shownAt(`${path}/changes`);
    expect([await shownAt(`${path}/diffs`), overflow]).toEqual([changes, false]);
    expect(changes).toMatchObject([{ new_path: 'topic.txt', new_file: true }]);
  });

  it('approvers and approval_groups are empty arrays: use the approval rules', async () => {
    const { project } = await opened();
    const body = { name: 'Masons', approvals_required: 1, user_ids: [1] };
    bodyOf(await ashlar.root(`POST /projects/${project.id}/approval_rules`, { body }), 201);
    expect(await shownAt(`/projects/${project.id}/approvals`)).toMatchObject({
      ...{ approvers: [], approver_groups: [], approval_groups: [] },
    });
    expect(await shownAt(`/projects/${project.id}/approval_rules`)).toMatchObject([{ name: 'Masons' }]);
  });

  it('require_password_to_approve: use require_reauthentication_to_approve, which wins', async () => {
    const { project } = await opened();
    const put = async (body: Record<string, boolean>) => {
      const shown = bodyOf(await ashlar.root(`POST /projects/${project.id}/approvals`, { body }), 201);
      return [shown.require_password_to_approve, shown.require_reauthentication_to_approve];
    };
    expect(await put({ require_password_to_approve: true })).toEqual([true, true]);
    const both = { require_password_to_approve: true, require_reauthentication_to_approve: false };
    expect(await put(both)).toEqual([false, false]);
  });
});

describe('Versioning, deprecations of runners', () => {
  it('active: use paused, which says the opposite; ip_address is empty', async () => {
    const created = await ashlar.root('POST /user/runners', { body: { runner_type: 'instance_type' } });
    const path = `/runners/${bodyOf(created, 201).id}`;
    const put = async (body: Record<string, boolean>) => {
      const shown = bodyOf(await ashlar.root(`PUT ${path}`, { body }), 200);
      return [shown.active, shown.paused, shown.ip_address];
    };
    expect(await put({ active: false })).toEqual([false, true, '']);
    expect(await put({ paused: false })).toEqual([true, false, '']);
    const refused = await ashlar.root(`PUT ${path}`, { body: { active: true, paused: true } });
    expect([refused.status, refused.body.error]).toEqual([400, 'active, paused are mutually exclusive']);
  });
});

describe('Versioning, deprecations of whole families', () => {
  it('geo_nodes: use geo_sites, which has the same records', async () => {
    const body = { name: 'Quarry', url: 'https://quarry.example.com/' };
    const made = bodyOf(await ashlar.root('POST /geo_nodes', { body }), 201);
    const shown = async (path: string) => bodyOf(await ashlar.root(`GET ${path}`), 200);
    const [former, present] = [await shown(`/geo_nodes/${made.id}`), await shown(`/geo_sites/${made.id}`)];
    const { _links: links, clone_protocol, ...record } = former;
    expect(present).toMatchObject(record);
    expect([links.self, present._links.self]).toEqual([
      expect.stringContaining(`/geo_nodes/${made.id}`),
      expect.stringContaining(`/geo_sites/${made.id}`),
    ]);
    expect(clone_protocol).toBe('git');
    bodyOf(await ashlar.root(`PUT /geo_nodes/${made.id}`, { body: { name: 'Yard' } }), 200);
    expect((await shown(`/geo_sites/${made.id}`)).name).toBe('Yard');
    expect((await shown('/geo_nodes')).length).toBe((await shown('/geo_sites')).length);
    expect((await ashlar.root(`DELETE /geo_sites/${made.id}`)).status).toBe(204);
    expect((await ashlar.root(`GET /geo_nodes/${made.id}`)).status).toBe(404);
  });

  it('pull mirroring in the projects endpoint: use projects/:id/mirror/pull, which has the same row', async () => {
    const { id } = await makeProject(ashlar);
    const shown = async (path: string) => bodyOf(await ashlar.root(`GET ${path}`), 200);
    const url = 'https://example.com/quarry.git';
    const former = { mirror: true, import_url: url, mirror_trigger_builds: true };
    bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: former }), 200);
    expect(await shown(`/projects/${id}/mirror/pull`)).toMatchObject({
      ...{ enabled: true, url, mirror_trigger_builds: true },
    });
    const present = { enabled: true, url, mirror_trigger_builds: false };
    bodyOf(await ashlar.root(`PUT /projects/${id}/mirror/pull`, { body: present }), 200);
    expect(await shown(`/projects/${id}`)).toMatchObject({
      ...{ mirror: true, import_url: url, mirror_trigger_builds: false },
    });
    bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { mirror: false } }), 200);
    expect((await ashlar.root(`GET /projects/${id}/mirror/pull`)).status).toBe(400);
  });

  it('managed licences: use license approval policies', async () => {
    const { id } = await makeProject(ashlar);
    const path = `/projects/${id}/managed_licenses`;
    const body = { name: 'MIT', approval_status: 'approved' };
    const made = await ashlar.root(`POST ${path}`, { body });
    expect([bodyOf(made, 201).approval_status, made.headers.get('deprecation')]).toEqual([
      'allowed',
      expect.stringMatching(/^@/),
    ]);
  });
});

describe('Versioning, what is deprecated says so', () => {
  it('an endpoint by its headers, in lists beside the links of pages', async () => {
    const project = await makeProject(ashlar);
    const { headers } = await ashlar.root(`GET /projects/${project.id}/services`);
    expect(headers.get('deprecation')).toMatch(/^@\d{10}$/);
    expect(headers.get('link')).toMatch(/^<[^>]+>; rel="first", .*>; rel="deprecation"; type="text\/html"$/);
    const current = await ashlar.root(`GET /projects/${project.id}/integrations`);
    expect([current.headers.get('deprecation'), current.headers.get('link')]).toEqual([
      null,
      expect.not.stringContaining('deprecation'),
    ]);
  });

  it('the link leads to where all of it stands', async () => {
    const project = await makeProject(ashlar);
    const { headers } = await ashlar.root(`GET /projects/${project.id}/approval_settings`);
    const [, address = ''] = /<([^>]+)>; rel="deprecation"/.exec(headers.get('link') ?? '') ?? [];
    const { pathname, hash } = new URL(address);
    const page = await ashlar.call(`GET ${pathname}`, { raw: true });
    expect([page.status, page.text.includes(`id="${hash.slice(1)}"`)]).toEqual([200, true]);
    expect(page.text).toContain('<code>merged_by</code>: use merge_user');
  });
});

// Without a test:
// - Rule 4: nothing is experimental or beta, and no endpoint is behind a feature flag yet.
// - The second halves of rules 1, 3, 5 and 6 are about releases, not about what is served.
