/** Topics: who reads and writes them, those of projects, and that counts stay true through all changes of projects. */
import { describe, expect, test } from 'vitest';
import { type Called, ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject, makeUser, uniqueName } from '../../../../test/support/factories.ts';

const app = useApp();

const makeTopic = async (attributes: Record<string, unknown> = {}) => {
  const name = uniqueName('topic');
  return bodyOf(await app.root('POST /topics', { body: { name, title: name, ...attributes } }), 201);
};
const named = async (name: string) =>
  bodyOf(await app.call('GET /topics', { query: `search=${encodeURIComponent(name)}` }), 200).find(
    (topic: { name: string }) => topic.name === name,
  );
const countOf = async (name: string) => (await named(name))?.total_projects_count;
const projectWith = (topics: string[], visibility = 'public') => makeProject(app, { topics, visibility });
const topicsOf = async (project: { id: number }) =>
  bodyOf(await app.root(`GET /projects/${project.id}`), 200).topics;

describe('topics', () => {
  test('are made and changed by administrators, and read by everybody', async () => {
    const name = uniqueName('Topic');
    const body = { name, title: 'A title', description: 'Of it.' };
    const made = bodyOf(await app.root('POST /topics', { body }), 201);
    expect(made).toEqual({
      id: expect.any(Number),
      ...body,
      total_projects_count: 0,
      organization_id: 1,
      avatar_url: null,
    });
    expect(bodyOf(await app.call(`GET /topics/${made.id}`), 200)).toEqual(made);
    expect(await named(name)).toEqual(made);
    const changed = bodyOf(
      await app.root(`PUT /topics/${made.id}`, { body: { title: 'Another', description: null } }),
      200,
    );
    expect(changed).toEqual({ ...made, title: 'Another', description: null });

    const user = await makeUser(app);
    for (const [request, sent] of [
      ['POST /topics', body],
      [`PUT /topics/${made.id}`, { title: 'x' }],
      [`DELETE /topics/${made.id}`, undefined],
      ['POST /topics/merge', { source_topic_id: made.id, target_topic_id: made.id }],
    ] as const) {
      expect([request, (await app.call(request, { body: sent })).status]).toEqual([request, 401]);
      expect([request, (await app.as(user.token)(request, { body: sent })).status]).toEqual([request, 403]);
    }
    expect((await app.root(`DELETE /topics/${made.id}`)).status).toBe(204);
    for (const request of [`GET /topics/${made.id}`, `PUT /topics/${made.id}`, `DELETE /topics/${made.id}`])
      expect(
        bodyOf(await app.root(request, { body: request.startsWith('PUT') ? {} : undefined }), 404),
      ).toEqual({
        message: '404 Topic Not Found',
      });
  });

  test('have a name of their own, in any capitals', async () => {
    const { id, name } = await makeTopic();
    const other = await makeTopic();
    const taken = { message: { name: ['has already been taken'] } };
    const twice = { name: ` ${name.toUpperCase()} `, title: 'x' };
    expect(bodyOf(await app.root('POST /topics', { body: twice }), 400)).toEqual(taken);
    expect(bodyOf(await app.root(`PUT /topics/${other.id}`, { body: { name: twice.name } }), 400)).toEqual(
      taken,
    );
    bodyOf(await app.root(`PUT /topics/${id}`, { body: { name: name.toUpperCase() } }), 200);
    for (const body of [
      { name: 'x' },
      { title: 'x' },
      { name: '', title: 'x' },
      { name: 'x', title: '' },
      { name: 'two\nlines', title: 'x' },
      { name: 'x'.repeat(256), title: 'x' },
    ])
      expect([body, (await app.root('POST /topics', { body })).status]).toEqual([body, 400]);
    const elsewhere = { name: uniqueName('x'), title: 'x', organization_id: 2 };
    expect((await app.root('POST /topics', { body: elsewhere })).status).toBe(404);
    expect(bodyOf(await app.call('GET /topics', { query: 'organization_id=2' }), 200)).toEqual([]);
  });

  test('have a picture, at an address that ends in its name', async () => {
    const png = Buffer.from('89504e470d0a1a0a', 'hex');
    const send = async (method: string, path: string, fields: Record<string, string>, picture?: Buffer) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      if (picture) form.append('avatar', new File([new Uint8Array(picture)], 'stone wall.png'));
      const response = await fetch(`${app.url}/api/v4${path}`, {
        method,
        body: form,
        headers: { 'private-token': ROOT_TOKEN },
      });
      return { status: response.status, body: (await response.json()) as { id: number; avatar_url: string } };
    };
    const name = uniqueName('topic');
    const { status, body } = await send('POST', '/topics', { name, title: name }, png);
    expect(status).toBe(201);
    expect(body.avatar_url).toBe(
      `${app.url}/uploads/-/system/projects/topic/avatar/${body.id}/stone_wall.png`,
    );
    const served = await fetch(body.avatar_url);
    expect(Buffer.from(await served.arrayBuffer())).toEqual(png);
    expect(served.headers.get('content-type')).toBe('image/png');
    expect((await fetch(body.avatar_url.replace('stone', 'other'))).status).toBe(404);
    expect((await fetch(body.avatar_url.replace(`/${body.id}/`, '/999999/'))).status).toBe(404);
    expect((await fetch(body.avatar_url.replace(`/${body.id}/`, '/x/'))).status).toBe(404);

    expect((await send('PUT', `/topics/${body.id}`, { title: 'x' })).body.avatar_url).toBe(body.avatar_url);
    expect((await send('PUT', `/topics/${body.id}`, {}, Buffer.from('<svg/>'))).status).toBe(400);
    expect((await send('PUT', `/topics/${body.id}`, { avatar: '' })).body.avatar_url).toBeNull();
    expect((await fetch(body.avatar_url)).status).toBe(404);
  });

  test('are found by a part of the name or title, and by being of no use', async () => {
    const word = uniqueName('granite');
    const byName = await makeTopic({ name: `${word}-%_a` });
    const byTitle = await makeTopic({ title: `Of ${word.toUpperCase()}` });
    const search = async (query: string) =>
      bodyOf(await app.call('GET /topics', { query }), 200).map(({ id }: { id: number }) => id);
    expect(await search(`search=${word}`)).toEqual([byName.id, byTitle.id]);
    expect(await search(`search=${word}-%25_`)).toEqual([byName.id]);
    expect(await search(`search=${word}_%25`)).toEqual([]);
    await projectWith([byName.name], 'private');
    expect(await search(`search=${word}&without_projects=true`)).toEqual([byTitle.id]);
    expect(await search(`search=${word}&without_projects=false`)).toEqual([byName.id, byTitle.id]);
  });
});

describe('topics of projects', () => {
  test('are made by being given, each once, as they were spelled first', async () => {
    const [one, two] = [uniqueName('One'), uniqueName('two')];
    const project = await projectWith([` ${one} `, two, one.toUpperCase(), '']);
    expect(await topicsOf(project)).toEqual([one, two]);
    expect(await named(one)).toMatchObject({ name: one, title: one });
    const later = await projectWith([two.toUpperCase(), one.toLowerCase()]);
    expect(await topicsOf(later)).toEqual([two, one]);
    for (const query of [`topic=${one.toLowerCase()}`, `topic_id=${(await named(one)).id}`]) {
      const ids = bodyOf(await app.root('GET /projects', { query }), 200).map(({ id }: { id: number }) => id);
      expect(ids.sort()).toEqual([project.id, later.id].sort());
    }
    const none = `topic=${one},${uniqueName('never')}`;
    expect(bodyOf(await app.root('GET /projects', { query: none }), 200)).toEqual([]);
    expect(bodyOf(await app.root('GET /projects', { query: 'topic_id=999999' }), 200)).toEqual([]);
    const lines = { name: uniqueName('p'), topics: ['two\nlines'] };
    expect((await app.root('POST /projects', { body: lines })).status).toBe(400);
  });

  test('count public projects, most used first', async () => {
    const [a, b] = [uniqueName('count-a'), uniqueName('count-b')];
    const first = await projectWith([a, b]);
    const second = await projectWith([b.toUpperCase()]);
    await projectWith([a, b], 'private');
    await projectWith([a, b], 'internal');
    expect([await countOf(a), await countOf(b)]).toEqual([1, 2]);
    const listed = bodyOf(await app.call('GET /topics', { query: 'search=count-' }), 200);
    expect(listed.map(({ name }: { name: string }) => name)).toEqual([b, a]);

    bodyOf(await app.root(`PUT /projects/${second.id}`, { body: { visibility: 'private' } }), 200);
    expect(await countOf(b)).toBe(1);
    bodyOf(await app.root(`PUT /projects/${second.id}`, { body: { visibility: 'public' } }), 200);
    bodyOf(await app.root(`PUT /projects/${first.id}`, { body: { topics: [b] } }), 200);
    expect([await countOf(a), await countOf(b)]).toEqual([0, 2]);
    bodyOf(await app.root(`PUT /projects/${first.id}`, { body: { description: 'x' } }), 200);
    expect([await countOf(a), await countOf(b)]).toEqual([0, 2]);
    bodyOf(await app.root(`PUT /projects/${first.id}`, { body: { tag_list: 'x' } }), 200);
    expect(await countOf(b)).toBe(1);

    const { db } = app.app.services.database;
    await db.updateTable('projects').set({ deleting: true }).where('id', '=', second.id).execute();
    expect(await countOf(b)).toBe(0);
    await db.deleteFrom('projects').where('id', '=', second.id).execute();
    expect(await countOf(b)).toBe(0);
  });

  test('follow a new name, and go with their topic', async () => {
    const topic = await makeTopic();
    const project = await projectWith(['before', topic.name, 'after']);
    const name = uniqueName('renamed');
    const renamed = bodyOf(await app.root(`PUT /topics/${topic.id}`, { body: { name } }), 200);
    expect(renamed).toMatchObject({ name, title: topic.title, total_projects_count: 1 });
    expect(await topicsOf(project)).toEqual(['before', name, 'after']);
    bodyOf(await app.root(`PUT /topics/${topic.id}`, { body: { name: name.toUpperCase() } }), 200);
    expect(await countOf(name.toUpperCase())).toBe(1);
    expect((await app.root(`DELETE /topics/${topic.id}`)).status).toBe(204);
    expect(await topicsOf(project)).toEqual(['before', 'after']);
  });

  test('are merged: each project keeps one of the two', async () => {
    const [source, target] = [await makeTopic(), await makeTopic()];
    const both = await projectWith([source.name, 'x', target.name]);
    const one = await projectWith([source.name, 'x']);
    const merge = (body: Record<string, unknown>) => app.root('POST /topics/merge', { body });
    expect(bodyOf(await merge({ source_topic_id: source.id, target_topic_id: source.id }), 400)).toEqual({
      message: 'The source topic and the target topic are identical.',
    });
    for (const body of [
      { source_topic_id: source.id, target_topic_id: 999_999 },
      { source_topic_id: 999_999, target_topic_id: target.id },
    ])
      expect((await merge(body)).status).toBe(404);
    expect((await merge({ source_topic_id: source.id })).status).toBe(400);
    const merged = bodyOf(await merge({ source_topic_id: source.id, target_topic_id: target.id }), 201);
    expect(merged).toEqual({ ...target, total_projects_count: 2 });
    expect(await topicsOf(both)).toEqual(['x', target.name]);
    expect(await topicsOf(one)).toEqual([target.name, 'x']);
    expect((await app.root(`GET /topics/${source.id}`)).status).toBe(404);
  });

  test('whatever is written at the same time, no project has a name that is no topic, and counts are true', async () => {
    const names = Array.from({ length: 4 }, () => uniqueName('busy'));
    const projects = await Promise.all(names.map(() => projectWith([])));
    const { sql } = app.app.services.database;
    // Searches at the same time are few for one address.
    const topicOf = async (name = '') =>
      (await sql<{ id: number }[]>`select id from topics where name = ${name}`)[0];
    const rounds = Array.from({ length: 24 }, async (_, round) => {
      const project = projects[round % projects.length]?.id;
      const topics = [names[round % 4], names[(round + 1) % 4], `${names[0]}-${round % 3}`];
      const visibility = round % 5 === 0 ? 'private' : 'public';
      const changed = await app.root(`PUT /projects/${project}`, { body: { topics, visibility } });
      let administered: Called | undefined;
      const topic = await topicOf(names[round % 4]);
      const other = await topicOf(names[(round + 1) % 4]);
      if (round % 6 === 0 && topic) administered = await app.root(`DELETE /topics/${topic.id}`);
      else if (round % 6 === 1 && topic)
        administered = await app.root(`PUT /topics/${topic.id}`, { body: { name: uniqueName('busy-new') } });
      else if (round % 6 === 2 && topic && other)
        administered = await app.root('POST /topics/merge', {
          body: { source_topic_id: topic.id, target_topic_id: other.id },
        });
      return { status: changed.status, administered: administered?.status ?? 0 };
    });
    const responses = await Promise.all(rounds);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(responses.filter(({ administered }) => administered >= 500)).toEqual([]);
    expect(
      await sql`select name from projects p, unnest(p.topics) t where not exists (select from topics where topics.name = t)`,
    ).toEqual([]);
    expect(
      await sql`select name, public_projects_rank from topics t where -public_projects_rank <> (
        select count(*) from projects p where p.visibility = 20 and not deleting and t.name = any(p.topics))`,
    ).toEqual([]);
  });
});
