/** Tags (facts: Repository, files, commits, branches, tags). */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { readShown } from '../../../platform/git/history/history.ts';
import { fullRef } from '../../../platform/git/names.ts';
import { parseTag } from '../../../platform/git/parse.ts';
import { listRefs, type RefOrder, readRef } from '../../../platform/git/refs.ts';
import { readRepository } from '../commits/queries.ts';
import { lengthOfRecord } from '../commits/records.ts';
import { signatureType } from '../commits/rules.ts';
import { CommitSignature } from '../commits/schema.ts';
import type { RefGuard } from '../protection/protection.ts';
import { refView } from './branch-routes.ts';
import { pageOfRefs } from './pages.ts';
import { presentTag } from './present.ts';
import { matchesSearch } from './rules.ts';
import { createTag, deleteTag } from './tag-actions.ts';
import { publishedAt } from './tag-releases.ts';
import { NewTagInput, TagListInput, TagRecord } from './tag-schema.ts';

/** The record of one tag; 404 without it. */
async function showTag(
  context: Parameters<typeof refView>[0],
  name: string,
  guard?: RefGuard,
): Promise<Static<typeof TagRecord>> {
  const view = await refView(context, guard);
  const published = await publishedAt(context, context.subject, [name]);
  const record = await readRepository(context.services, context.subject, async (git) => {
    const oid = await readRef(git, fullRef('tag', name));
    return oid === undefined ? undefined : presentTag(view, git, { name, oid }, published);
  });
  return found(record, 'Tag');
}

const path = '/projects/:id/repository/tags';
const one = Type.Object({ tag_name: Type.String() });

export const tagsEndpoint = endpoint({
  method: 'GET',
  path,
  summary: 'Tags of a project.',
  also: [422],
  access: onProject('read_code'),
  input: TagListInput,
  reply: Type.Array(TagRecord),
  handle: async (context) => {
    const { input, request, services } = context;
    const { order_by: by = 'updated', sort = 'desc' } = input;
    const order: RefOrder = sort === 'asc' ? by : `${by}_desc`;
    const view = await refView(context);
    const page = await readRepository(context.services, context.subject, async (git) => {
      const matches = matchesSearch(input.search);
      const tags = (await listRefs(git, 'tag', order)).filter(({ name }) => matches(name));
      const { refs, headers } = pageOfRefs(tags, order, input, request, services);
      const names = refs.map(({ name }) => name);
      const published = await publishedAt(context, context.subject, names);
      const shown = await readShown(
        refs,
        (tag) => presentTag(view, git, tag, published),
        ({ message, commit }) => (message?.length ?? 0) + (commit ? lengthOfRecord(commit) : 0),
      );
      return new Reply(200, shown, headers);
    });
    return page ?? new Reply(200, [], pageOfRefs([], order, input, request, services).headers);
  },
});

export const tagEndpoints: Endpoint[] = [
  tagsEndpoint,
  endpoint({
    method: 'GET',
    path: `${path}/:tag_name`,
    summary: 'One tag.',
    also: [422],
    access: onProject('read_code'),
    input: one,
    reply: TagRecord,
    handle: (context) => showTag(context, context.input.tag_name),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:tag_name/signature`,
    summary: 'The signature of a tag; 404 when it has none.',
    also: [422],
    access: onProject('read_code'),
    input: one,
    reply: CommitSignature,
    handle: async (context) => {
      const tag = await readRepository(context.services, context.subject, async (git) => {
        const oid = await readRef(git, fullRef('tag', context.input.tag_name));
        const object = oid === undefined ? undefined : await git.read(oid);
        return object?.type === 'tag' ? parseTag(object.oid, object.content) : undefined;
      });
      const type = found(tag && signatureType(tag), 'Signature');
      return { signature_type: type, verification_status: 'unverified' };
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Create a tag.',
    also: [422],
    access: onProject('push_code'),
    input: NewTagInput,
    reply: TagRecord,
    handle: async (context) => {
      const guard = await createTag(context, context.input);
      return showTag(context, context.input.tag_name, guard);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:tag_name`,
    summary: 'Delete a tag.',
    also: [422],
    access: onProject('push_code'),
    input: one,
    reply: noContent,
    handle: async (context) => {
      await deleteTag(context, context.input.tag_name, context.unmodified);
      return new Reply(204);
    },
  }),
];
