/** Every row of the spec's "Conventions on identifiers and types", over HTTP. */
import { describe, expect, it } from 'vitest';
import { useApp } from '../../support/app.ts';
import { bodyOf, makeGroup, makeProject, uniqueName } from '../../support/factories.ts';
import { sendRaw } from '../../support/raw-http.ts';

const ashlar = useApp();

/** The id of the strategy of a new feature flag: a thing inside one project. */
async function strategyIn(project: { id: number }): Promise<number> {
  const body = { name: 'flag', strategies: [{ name: 'default', parameters: {} }] };
  return bodyOf(await ashlar.root(`POST /projects/${project.id}/feature_flags`, { body }), 201).strategies[0]
    .id;
}

describe('Conventions on identifiers and types', () => {
  it('id: unique across all projects, also of what is inside one', async () => {
    const [one, other] = [await makeProject(ashlar), await makeProject(ashlar)];
    expect(one.id).not.toBe(other.id);
    expect(await strategyIn(one)).not.toBe(await strategyIn(other));
  });

  describe('Project path', () => {
    it('<namespace>/<project_path> with its / as %2F replaces the number', async () => {
      const outer = await makeGroup(ashlar);
      const group = await makeGroup(ashlar, { parent_id: outer.id });
      const project = await makeProject(ashlar, { namespace_id: group.id });
      const byNumber = bodyOf(await ashlar.root(`GET /projects/${project.id}`), 200);
      const path = project.path_with_namespace;
      expect(path.split('/')).toHaveLength(3);
      for (const encoded of [path.replaceAll('/', '%2F'), path.replaceAll('/', '%2f')]) {
        expect(bodyOf(await ashlar.root(`GET /projects/${encoded}`), 200)).toEqual(byNumber);
        const members = await ashlar.root(`GET /projects/${encoded}/members/all`);
        expect(bodyOf(members, 200)).toMatchObject([{ username: 'root' }]);
      }
    });

    it('a / that is not encoded is another address: 404', async () => {
      const project = await makeProject(ashlar);
      const response = await ashlar.root(`GET /projects/${project.path_with_namespace}`);
      expect(response.status).toBe(404);
      expect(response.body.message).toContain('404');
    });

    it('digits alone are a number, never a path', async () => {
      const project = await makeProject(ashlar, { path: '4711', name: '4711' });
      expect((await ashlar.root('GET /projects/4711')).status).toBe(404);
      expect((await ashlar.root('GET /projects/root%2F4711')).body.id).toBe(project.id);
    });
  });

  describe('Nullable booleans', () => {
    it('some fields of responses are null, and true or false once they are set', async () => {
      const group = await makeGroup(ashlar);
      const field = async () => bodyOf(await ashlar.root(`GET /groups/${group.id}`), 200).mentions_disabled;
      expect(await field()).toBeNull();
      for (const value of [true, false]) {
        bodyOf(await ashlar.root(`PUT /groups/${group.id}`, { body: { mentions_disabled: value } }), 200);
        expect(await field()).toBe(value);
        bodyOf(await ashlar.root(`PUT /groups/${group.id}`, { form: `mentions_disabled=${value}` }), 200);
        expect(await field()).toBe(value);
      }
    });

    it('arguments are true or false: another word is refused', async () => {
      const group = await makeGroup(ashlar);
      const response = await ashlar.root(`PUT /groups/${group.id}`, {
        body: { mentions_disabled: 'perhaps' },
      });
      expect([response.status, response.body.message]).toEqual([400, { mentions_disabled: ['is invalid'] }]);
    });
  });

  describe('+ in query values', () => {
    it('a plain + is read as a space', async () => {
      const words = uniqueName('plus and');
      const project = await makeProject(ashlar, { name: `${words} space`, path: uniqueName('plain') });
      const query = `search=${words.replaceAll(' ', '+')}+space`;
      expect(bodyOf(await ashlar.root('GET /projects', { query }), 200)).toMatchObject([{ id: project.id }]);
    });

    it('%2B is a +, as an ISO 8601 time offset needs', async () => {
      const project = await makeProject(ashlar, { name: 'c++ compiler', path: uniqueName('compiler') });
      const found = await ashlar.root('GET /projects', { query: 'search=c%2B%2B+comp' });
      expect(bodyOf(found, 200)).toMatchObject([{ id: project.id }]);
      const since = async (time: string) =>
        ashlar.root('GET /audit_events', { query: `created_after=${time}` });
      expect(bodyOf(await since('2001-01-01T00:00:00%2B02:00'), 200).length).toBeGreaterThan(0);
      const spaced = await since('2001-01-01T00:00:00+02:00');
      expect([spaced.status, spaced.body.message]).toEqual([400, { created_after: ['is invalid'] }]);
    });
  });

  it('the encoded / is one value wherever it stands in the path', async () => {
    const put = { headers: { 'private-token': 'glpat-root-token-of-the-tests' } };
    const path = '/api/v4/users/1/custom_attributes/a%2Fb%3Fc%40d';
    const made = await sendRaw(ashlar.url, `PUT ${path}?value=here`, put);
    expect([made.status, JSON.parse(made.text)]).toEqual([200, { key: 'a/b?c@d', value: 'here' }]);
  });
});

// Without a test, because nothing that exists here has them:
// - `iid`: no resource is numbered inside its project yet (issues, merge requests, alerts).
// - File paths, branch names, tag names: there are no repositories yet; the last test shows that %2F reaches any path
//   parameter whole.
// - "null is treated as false": the fields that can be null (mentions_disabled, auto_devops_enabled,
//   allow_merge_on_skipped_pipeline) act on comments, pipelines and merge requests, which are not there yet.
