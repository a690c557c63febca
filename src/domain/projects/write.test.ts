/** Creating and changing projects over HTTP (spec: Errors; facts: Cross-cutting behaviour, Roles and visibility). */
import { describe, expect, it } from 'vitest';
import { useApp } from '../../../test/support/app.ts';

const ashlar = useApp();

describe('POST /projects', () => {
  it('creates one in the own namespace, private by default', async () => {
    const made = await ashlar.root('POST /projects', { body: { name: 'My First Project', topics: 'a, b' } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      path: 'my-first-project',
      path_with_namespace: 'root/my-first-project',
      name_with_namespace: 'Administrator / My First Project',
      visibility: 'private',
      topics: ['a', 'b'],
      tag_list: ['a', 'b'],
      archived: false,
    });
  });

  it('answers 409 for a taken path or name, also when sent twice at once', async () => {
    const both = await Promise.all(
      [1, 2].map(() => ashlar.root('POST /projects', { body: { name: 'twice', path: 'twice' } })),
    );
    expect(both.map((one) => one.status).sort()).toEqual([201, 409]);
    const name = await ashlar.root('POST /projects', { body: { name: 'Twice', path: 'other' } });
    expect(name.status).toBe(409);
    expect(name.body.message).toEqual({ name: ['has already been taken'] });
  });

  it('names what is missing or wrong', async () => {
    const missing = await ashlar.root('POST /projects', { body: {} });
    expect(missing.status).toBe(400);
    expect(missing.body.message).toContain('"name" not given');
    const wrong = await ashlar.root('POST /projects', { body: { name: 'x', visibility: 'secret' } });
    expect(wrong.body.message).toEqual({ visibility: ['does not have a valid value'] });
    const path = await ashlar.root('POST /projects', { body: { name: 'x', path: '-x.git' } });
    expect(path.body.message.path).toHaveLength(1);
  });

  it('takes forms as well as JSON', async () => {
    const made = await ashlar.root('POST /projects', {
      form: 'name=from+a+form&topics[]=x&topics[]=y&issues_enabled=false',
    });
    expect(made.body).toMatchObject({ name: 'from a form', topics: ['x', 'y'], issues_enabled: false });
  });
});

describe('PUT /projects/:id', () => {
  it('renames, and the old path redirects reads only (facts §10)', async () => {
    const { body } = await ashlar.root('POST /projects', { body: { name: 'before' } });
    const renamed = await ashlar.root('PUT /projects/root%2Fbefore', { body: { path: 'after' } });
    expect(renamed.body.path_with_namespace).toBe('root/after');
    const moved = await ashlar.root('GET /projects/root%2Fbefore', {
      query: 'statistics=true&private_token=glpat-root-token-of-the-tests',
    });
    expect(moved.status).toBe(301);
    expect(moved.headers.get('location')).toBe(`${ashlar.url}/api/v4/projects/${body.id}?statistics=true`);
    expect((await ashlar.root('PUT /projects/root%2Fbefore', { body: { name: 'x' } })).status).toBe(405);
    expect((await ashlar.call('GET /projects/root%2Fbefore')).status).toBe(404);
  });

  it('changes what is named, and leaves the rest', async () => {
    await ashlar.root('POST /projects', {
      body: { name: 'changing', description: 'one', wiki_access_level: 'private' },
    });
    const changed = await ashlar.root('PUT /projects/root%2Fchanging', { body: { merge_method: 'ff' } });
    expect(changed.body).toMatchObject({
      merge_method: 'ff',
      description: 'one',
      wiki_access_level: 'private',
    });
  });
});

describe('verbs', () => {
  it('stars once, and says 304 after that', async () => {
    await ashlar.root('POST /projects', { body: { name: 'star' } });
    const both = await Promise.all([1, 2].map(() => ashlar.root('POST /projects/root%2Fstar/star')));
    expect(both.map((one) => one.status).sort()).toEqual([201, 304]);
    expect((await ashlar.root('GET /projects/root%2Fstar')).body.star_count).toBe(1);
    expect((await ashlar.root('POST /projects/root%2Fstar/unstar')).body.star_count).toBe(0);
    expect((await ashlar.root('POST /projects/root%2Fstar/unstar')).status).toBe(304);
  });

  it('archives and brings back', async () => {
    await ashlar.root('POST /projects', { body: { name: 'old' } });
    expect((await ashlar.root('POST /projects/root%2Fold/archive')).body.archived).toBe(true);
    expect((await ashlar.root('GET /projects', { query: 'archived=true' })).body).toHaveLength(1);
    expect((await ashlar.root('POST /projects/root%2Fold/unarchive')).body.archived).toBe(false);
  });

  it('keeps fork relations', async () => {
    await ashlar.root('POST /projects', { body: { name: 'source' } });
    await ashlar.root('POST /projects', { body: { name: 'fork' } });
    const forked = await ashlar.root('POST /projects/root%2Ffork/fork/root%2Fsource');
    expect(forked.body.forked_from_project.path).toBe('source');
    expect((await ashlar.root('POST /projects/root%2Ffork/fork/root%2Fsource')).status).toBe(409);
    expect((await ashlar.root('GET /projects/root%2Fsource/forks')).body[0].path).toBe('fork');
    expect((await ashlar.root('DELETE /projects/root%2Ffork/fork')).status).toBe(204);
    expect((await ashlar.root('DELETE /projects/root%2Ffork/fork')).status).toBe(304);
  });
});

describe('DELETE /projects/:id (facts §10, delayed deletion)', () => {
  it('marks, restores, and deletes a marked one for good', async () => {
    await ashlar.root('POST /projects', { body: { name: 'doomed' } });
    const gone = await ashlar.root('DELETE /projects/root%2Fdoomed');
    expect([gone.status, gone.body]).toEqual([202, { message: '202 Accepted' }]);
    expect((await ashlar.root('GET /projects', { query: 'search=doomed' })).body).toEqual([]);
    const marked = await ashlar.root('GET /projects', { query: 'search=doomed&include_pending_delete=true' });
    const [{ id, path_with_namespace: path, marked_for_deletion_on: day }] = marked.body;
    expect(path).toBe(`root/doomed-deletion_scheduled-${id}`);
    expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
    const restored = await ashlar.root(`POST /projects/${id}/restore`);
    expect(restored.body).toMatchObject({ path: 'doomed', name: 'doomed', marked_for_deletion_on: null });
    expect((await ashlar.root(`POST /projects/${id}/restore`)).status).toBe(400);

    const early = await ashlar.root(`DELETE /projects/${id}`, {
      query: 'permanently_remove=true&full_path=root/doomed',
    });
    expect(early.body.message).toBe('Project must be marked for deletion first.');
    await ashlar.root(`DELETE /projects/${id}`);
    const wrong = await ashlar.root(`DELETE /projects/${id}`, {
      query: 'permanently_remove=true&full_path=root/doomed',
    });
    expect(wrong.body.message).toContain('`full_path` is incorrect');
    const right = `permanently_remove=true&full_path=root/doomed-deletion_scheduled-${id}`;
    expect((await ashlar.root(`DELETE /projects/${id}`, { query: right })).status).toBe(202);
    expect((await ashlar.root(`GET /projects/${id}`)).status).toBe(404);
    expect((await ashlar.root('POST /projects', { body: { name: 'doomed' } })).status).toBe(201);
  });

  it('honours If-Unmodified-Since with 412', async () => {
    await ashlar.root('POST /projects', { body: { name: 'guarded' } });
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' };
    expect((await ashlar.root('DELETE /projects/root%2Fguarded', { headers })).status).toBe(412);
    expect((await ashlar.root('GET /projects/root%2Fguarded')).status).toBe(200);
  });
});
