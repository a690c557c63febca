/** Deleting groups over HTTP: the delay, restoring, and erasing (facts: Delayed deletion). */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import {
  deleteOverdue,
  type Eraser,
  eraseNamespace,
  markNamespaceDeleting,
} from '../../../kernel/namespaces/erasure-actions.ts';
import { moveClock } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';

const ashlar = useApp();
const database = () => ashlar.app.services.database.db;
const encode = encodeURIComponent;

/** Whether the row is gone in the end: the background job has its own pace. */
async function isErased(table: 'namespaces' | 'projects', id: number): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const row = await database().selectFrom(table).select('id').where('id', '=', id).executeTakeFirst();
    if (!row) return true;
    await wait(50);
  }
  return false;
}

describe('DELETE /groups/:id', () => {
  it('marks the group, frees its path, and lets it be restored', async () => {
    const group = await makeGroup(ashlar);
    const project = await makeProject(ashlar, { namespace_id: group.id, path: 'p', name: 'p' });
    const { maintainer } = await makeMembers(ashlar, `groups/${group.id}`, 'maintainer');
    expect((await ashlar.as(maintainer.token)(`DELETE /groups/${group.id}`)).status).toBe(403);
    expect((await ashlar.root(`POST /groups/${group.id}/restore`)).status).toBe(400);
    const deleted = await ashlar.root(`DELETE /groups/${group.id}`);
    expect([deleted.status, deleted.body]).toEqual([202, { message: '202 Accepted' }]);
    const marked = bodyOf(await ashlar.root(`GET /groups/${group.id}`), 200);
    expect(marked).toMatchObject({
      marked_for_deletion_on: new Date().toISOString().slice(0, 10),
      full_path: `${group.full_path}-deletion_scheduled-${group.id}`,
    });
    const listed = await ashlar.root('GET /groups', {
      query: `marked_for_deletion_on=${marked.marked_for_deletion_on}`,
    });
    expect(bodyOf(listed, 200)).toMatchObject([{ id: group.id }]);
    expect((await ashlar.root(`DELETE /groups/${group.id}`)).status).toBe(400);
    const sub = { body: { name: 's', path: 's', parent_id: group.id } };
    expect((await ashlar.root('POST /groups', sub)).status).toBe(403);

    const successor = await makeGroup(ashlar, { path: group.full_path });
    const clash = bodyOf(await ashlar.root(`POST /groups/${group.id}/restore`), 400);
    expect(clash.message).toEqual({ path: ['has already been taken'] });
    bodyOf(await ashlar.root(`PUT /groups/${successor.id}`, { body: { path: `${group.full_path}-2` } }), 200);
    const restored = bodyOf(await ashlar.root(`POST /groups/${group.id}/restore`), 201);
    expect(restored).toMatchObject({ full_path: group.full_path, marked_for_deletion_on: null });
    expect((await ashlar.root(`GET /projects/${encode(`${group.full_path}/p`)}`)).body.id).toBe(project.id);
  });

  it('respects If-Unmodified-Since', async () => {
    const group = await makeGroup(ashlar);
    const headers = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
    expect((await ashlar.root(`DELETE /groups/${group.id}`, { headers })).status).toBe(412);
    expect(bodyOf(await ashlar.root(`GET /groups/${group.id}`), 200).marked_for_deletion_on).toBeNull();
  });

  it('removes a marked subgroup at once, when its path is given exactly', async () => {
    const top = await makeGroup(ashlar);
    const group = await makeGroup(ashlar, { parent_id: top.id });
    const inner = await makeGroup(ashlar, { parent_id: group.id });
    const project = await makeProject(ashlar, { namespace_id: inner.id });
    const remove = async (id: number, full_path?: string) => {
      const query = `permanently_remove=true${full_path === undefined ? '' : `&full_path=${encode(full_path)}`}`;
      const response = await ashlar.root(`DELETE /groups/${id}`, { query });
      return [response.status, response.body.message];
    };
    expect(await remove(top.id, top.full_path)).toEqual([
      400,
      '`permanently_remove` option is only available for subgroups.',
    ]);
    expect(await remove(group.id, group.full_path)).toEqual([
      400,
      'Group must be marked for deletion first.',
    ]);
    bodyOf(await ashlar.root(`DELETE /groups/${group.id}`), 202);
    expect((await remove(group.id, group.full_path))[0]).toBe(400);
    const { full_path } = bodyOf(await ashlar.root(`GET /groups/${group.id}`), 200);
    expect(await remove(group.id, full_path)).toEqual([202, '202 Accepted']);
    for (const address of [`/groups/${group.id}`, `/groups/${inner.id}`, `/projects/${project.id}`]) {
      expect((await ashlar.root(`GET ${address}`)).status).toBe(404);
    }
    expect(await isErased('projects', project.id)).toBe(true);
    expect(await isErased('namespaces', group.id)).toBe(true);
  });
});

describe('erasing', () => {
  it('takes everything out of sight at once, and what others had through it', async () => {
    const [group, other] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    const inner = await makeGroup(ashlar, { parent_id: group.id, path: 'in', name: 'in' });
    const source = await makeProject(ashlar, { namespace_id: other.id });
    const fork = await makeProject(ashlar, { namespace_id: inner.id, path: 'p', name: 'p' });
    bodyOf(await ashlar.root(`POST /projects/${fork.id}/fork/${source.id}`), 201);
    const member = await makeUser(ashlar);
    await addMember(ashlar, `groups/${inner.id}`, member, 50);
    bodyOf(
      await ashlar.root(`POST /groups/${other.id}/share`, { body: { group_id: inner.id, group_access: 30 } }),
      201,
    );
    const bot = bodyOf(
      await ashlar.root(`POST /groups/${inner.id}/access_tokens`, { body: { name: 't', scopes: ['api'] } }),
      201,
    );
    expect((await ashlar.as(member.token)(`GET /groups/${other.id}`)).status).toBe(200);
    await inTransaction(database(), (tx) => markNamespaceDeleting(tx, group.id));
    expect((await ashlar.as(member.token)(`GET /groups/${other.id}`)).status).toBe(404);
    expect((await ashlar.as(bot.token)('GET /groups')).status).toBe(401);
    expect(bodyOf(await ashlar.as(member.token)('GET /groups'), 200)).toEqual([]);
    expect(bodyOf(await ashlar.as(member.token)('GET /projects', { query: 'membership=true' }), 200)).toEqual(
      [],
    );
    expect(bodyOf(await ashlar.as(member.token)('GET /namespaces'), 200)).toHaveLength(1);
    expect(bodyOf(await ashlar.root(`GET /projects/${source.id}`), 200).forks_count).toBe(0);
    // All of them can be made anew.
    const again = await makeGroup(ashlar, { path: group.full_path });
    const innerAgain = await makeGroup(ashlar, { parent_id: again.id, path: 'in', name: 'in' });
    await makeProject(ashlar, { namespace_id: innerAgain.id, path: 'p', name: 'p' });
    expect(await isErased('namespaces', group.id)).toBe(true);
    expect((await ashlar.root(`GET /groups/${again.id}`)).status).toBe(200);
  });

  it('goes on where it stopped, and harms nothing else', async () => {
    const group = await makeGroup(ashlar);
    const inner = await makeGroup(ashlar, { parent_id: group.id });
    const neighbour = await makeGroup(ashlar);
    await sql`
      insert into projects (namespace_id, name, path, visibility, last_activity_at, created_at, updated_at)
      select ${inner.id}, 'p' || n, 'p' || n, 0, now(), now(), now() from generate_series(1, 120) n`.execute(
      database(),
    );
    // A group that was not marked as deleted is not erased.
    await eraseNamespace(database(), [], group.id);
    await eraseNamespace(database(), [], neighbour.id);
    expect(bodyOf(await ashlar.root(`GET /groups/${group.id}`), 200).id).toBe(group.id);
    // Without its fact: the task is run here, and stops in its second batch.
    await inTransaction(database(), async (tx) => {
      await markNamespaceDeleting(tx, group.id);
      await tx.deleteFrom('outbox').execute();
    });
    const seen: number[] = [];
    const failing: Eraser = async (_, { projectIds }) => {
      if (projectIds.length > 0) seen.push(projectIds.length);
      if (seen.length === 2) throw new Error('the process dies');
    };
    await expect(eraseNamespace(database(), [failing], group.id)).rejects.toThrow('the process dies');
    const count = async () =>
      (await database().selectFrom('projects').select('id').where('namespace_id', '=', inner.id).execute())
        .length;
    expect(await count()).toBe(70);
    await eraseNamespace(database(), [failing], group.id);
    expect(seen).toEqual([50, 50, 50, 20]);
    expect(await isErased('namespaces', group.id)).toBe(true);
    expect((await ashlar.root(`GET /groups/${neighbour.id}`)).status).toBe(200);
  });

  it('comes when the delay is over, for groups and projects, and not before', async () => {
    const [group, kept] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    const project = await makeProject(ashlar, { namespace_id: kept.id });
    bodyOf(await ashlar.root(`DELETE /groups/${group.id}`), 202);
    bodyOf(await ashlar.root(`DELETE /projects/${project.id}`), 202);
    await deleteOverdue(database(), 30);
    expect((await ashlar.root(`GET /groups/${group.id}`)).status).toBe(200);
    const back = moveClock(30 * 86_400_000);
    try {
      await deleteOverdue(database(), 30);
    } finally {
      back();
    }
    expect((await ashlar.root(`GET /groups/${group.id}`)).status).toBe(404);
    expect((await ashlar.root(`GET /projects/${project.id}`)).status).toBe(404);
    expect(await isErased('namespaces', group.id)).toBe(true);
    expect(await isErased('projects', project.id)).toBe(true);
    expect((await ashlar.root(`GET /groups/${kept.id}`)).status).toBe(200);
    const audit = await database()
      .selectFrom('audit_events')
      .select(['event_name', 'author_id'])
      .where('entity_type', '=', 'Group')
      .where('entity_id', '=', group.id)
      .orderBy('id', 'desc')
      .executeTakeFirst();
    expect(audit).toEqual({ event_name: 'group_destroyed', author_id: -1 });
  });

  it('takes up what was left half-erased', async () => {
    const group = await makeGroup(ashlar);
    await inTransaction(database(), async (tx) => {
      await markNamespaceDeleting(tx, group.id);
      await tx.deleteFrom('outbox').execute();
    });
    const back = moveClock(2 * 3_600_000);
    try {
      await deleteOverdue(database(), 30);
    } finally {
      back();
    }
    expect(await isErased('namespaces', group.id)).toBe(true);
  });
});
