/** Endpoints of protected branches and tags (facts: Projects core). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { changeBranch, protectBranch, protectTag, unprotectBranch, unprotectTag } from './actions.ts';
import { isPremium, presentBranch, presentTag } from './present.ts';
import { selectBranch, selectBranches, selectTag, selectTags } from './queries.ts';
import {
  ChangeBranch,
  NameInput,
  ProtectBranch,
  ProtectedBranch,
  ProtectedTag,
  ProtectTag,
} from './schema.ts';

const reading = onProject('read_protected_refs');
const managing = onProject('manage_protected_refs');

const branchesPath = '/projects/:id/protected_branches';
const branchPath = `${branchesPath}/:name`;
const tagsPath = '/projects/:id/protected_tags';
const tagPath = `${tagsPath}/:name`;

type Shown = { db: Db; services: Needs<'config'>; subject: { id: number }; input: { name: string } };

const showBranch = async ({ db, services, subject, input }: Shown): Promise<ProtectedBranch> =>
  presentBranch(found(await selectBranch(db, subject.id, input.name)), isPremium(services));

const showTag = async ({ db, services, subject, input }: Shown): Promise<ProtectedTag> =>
  presentTag(found(await selectTag(db, subject.id, input.name)), isPremium(services));

const branchEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: branchesPath,
    summary: 'Protected branches of a project, by name.',
    access: reading,
    input: Type.Object({ search: Type.Optional(Type.String({ description: 'A part of the name.' })) }),
    page: 'offset',
    item: ProtectedBranch,
    handle: async ({ db, services, subject, input, page }) => {
      const listed = await selectBranches(db, subject.id, input.search, page);
      return mapPage(listed, (row) => presentBranch(row, isPremium(services)));
    },
  }),
  endpoint({
    method: 'POST',
    path: branchesPath,
    summary: 'Protects a branch, or every branch that a pattern meets.',
    access: managing,
    also: [409, 422],
    input: ProtectBranch,
    reply: ProtectedBranch,
    handle: async (context) => {
      const { db, services, actor, subject, input } = context;
      await protectBranch(db, actor, subject, input, isPremium(services));
      return showBranch(context);
    },
  }),
  endpoint({
    method: 'GET',
    path: branchPath,
    summary: 'One protected branch, or pattern.',
    access: reading,
    input: NameInput,
    reply: ProtectedBranch,
    handle: showBranch,
  }),
  endpoint({
    method: 'PATCH',
    path: branchPath,
    summary: 'Changes what protects a branch; what is not sent stays as it is.',
    access: managing,
    also: [422],
    input: ChangeBranch,
    reply: ProtectedBranch,
    handle: async (context) => {
      const { db, services, actor, subject, input } = context;
      await changeBranch(db, actor, subject, input, isPremium(services));
      return showBranch(context);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: branchPath,
    summary: 'Ends the protection of a branch.',
    access: managing,
    input: NameInput,
    reply: noContent,
    handle: async ({ db, services, actor, subject, input, unmodified }) => {
      await unprotectBranch(db, actor, subject, input.name, unmodified, isPremium(services));
      return null;
    },
  }),
];

const tagEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: tagsPath,
    summary: 'Protected tags of a project, by name.',
    access: reading,
    page: 'offset',
    item: ProtectedTag,
    handle: async ({ db, services, subject, page }) => {
      const listed = await selectTags(db, subject.id, page);
      return mapPage(listed, (row) => presentTag(row, isPremium(services)));
    },
  }),
  endpoint({
    method: 'POST',
    path: tagsPath,
    summary: 'Protects a tag, or every tag that a pattern meets.',
    access: managing,
    also: [409, 422],
    input: ProtectTag,
    reply: ProtectedTag,
    handle: async (context) => {
      const { db, services, actor, subject, input } = context;
      await protectTag(db, actor, subject, input, isPremium(services));
      return showTag(context);
    },
  }),
  endpoint({
    method: 'GET',
    path: tagPath,
    summary: 'One protected tag, or pattern.',
    access: reading,
    input: NameInput,
    reply: ProtectedTag,
    handle: showTag,
  }),
  endpoint({
    method: 'DELETE',
    path: tagPath,
    summary: 'Ends the protection of a tag.',
    access: managing,
    input: NameInput,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      const row = found(await selectTag(db, subject.id, input.name));
      unmodified(row.updated_at);
      await unprotectTag(db, actor, subject, row);
      return null;
    },
  }),
];

export const protectedRefEndpoints: Endpoint[] = [...branchEndpoints, ...tagEndpoints];
