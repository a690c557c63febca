/** Threads that a new issue takes over. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { makeReviewWorld } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

test('are settled, say where they go on, and describe it', async () => {
  const { project, mergeRequest, path } = await makeReviewWorld(ashlar);
  const members = await makeMembers(ashlar, `projects/${project.id}`, 'reporter', 'developer');
  const begin = async (body: string): Promise<string> =>
    bodyOf(await ashlar.root(`POST ${path}/discussions`, { body: { body } }), 201).id;
  const [first, second] = [await begin('Why?\nHow?'), await begin('When?')];
  bodyOf(await ashlar.root(`POST ${path}/discussions/${second}/notes`, { body: { body: 'Now.' } }), 201);
  const isOpen = async (id: string) => {
    const { notes } = bodyOf(await ashlar.root(`GET ${path}/discussions/${id}`), 200);
    return notes.some(({ resolvable, resolved }: Record<string, boolean>) => resolvable && !resolved);
  };
  const last = async (id: string) =>
    bodyOf(await ashlar.root(`GET ${path}/discussions/${id}`), 200).notes.at(-1).body;
  const make = async ({ token }: { token: string }, body: Record<string, unknown>) =>
    bodyOf(
      await ashlar.as(token)(`POST /projects/${project.id}/issues`, {
        body: { title: 'Later', merge_request_to_resolve_discussions_of: mergeRequest.iid, ...body },
      }),
      201,
    );
  const { reporter, developer } = members;
  expect((await make(reporter, {})).description).toBe(null);
  expect([await isOpen(first), await isOpen(second)]).toEqual([true, true]);
  expect((await make(developer, { discussion_to_resolve: 'none' })).description).toBe(null);
  const one = await make(developer, { discussion_to_resolve: first });
  expect(one.description).toBe(
    'The following thread from !1 should be addressed:\n\n- [ ] @root began a thread:\n\n    > Why?\n    > How?',
  );
  expect([await isOpen(first), await isOpen(second)]).toEqual([false, true]);
  expect(await last(first)).toBe(`created #${one.iid} to continue this discussion`);
  const rest = await make(developer, { description: 'Mine' });
  expect(rest.description).toBe('Mine');
  expect(await isOpen(second)).toBe(false);
  expect(await last(second)).toBe(`created #${rest.iid} to continue this discussion`);
  const notes = bodyOf(await ashlar.root(`GET ${path}/notes`), 200);
  // Mentions have notes too, which jobs write at any time.
  expect(notes.map(({ body }: { body: string }) => body)).toContain('resolved all threads');
});
