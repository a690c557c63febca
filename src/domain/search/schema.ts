/** Fields of a search request (facts: Further groups, Search). */
import Type from 'typebox';
import { stringEnum } from '../../platform/http/parameters/schema.ts';

const inProjects = [
  'wiki_blobs',
  'blobs',
  'commits',
  'notes',
  'issues',
  'merge_requests',
  'milestones',
  'users',
] as const;
const inGroups = [...inProjects, 'projects'] as const;
const inInstance = [...inGroups, 'snippet_titles'] as const;
export type ScopeName = (typeof inInstance)[number];

const search = Type.String({
  maxLength: 4_096,
  description: 'Words that must all be there; `"` around a phrase.',
});
const state = Type.Optional(
  stringEnum(['all', 'opened', 'closed', 'merged'], { description: 'Of issues and merge requests.' }),
);
const confidential = Type.Optional(
  Type.Boolean({ description: 'Only issues that are confidential, or only others.' }),
);
const common = { search, state, confidential };
const archived = {
  include_archived: Type.Optional(
    Type.Boolean({ default: false, description: 'What is in archived projects too.' }),
  ),
};

export const InstanceInput = Type.Object({ ...common, ...archived, scope: stringEnum(inInstance) });
export const GroupInput = Type.Object({ ...common, ...archived, scope: stringEnum(inGroups) });
export const ProjectInput = Type.Object({
  ...common,
  scope: stringEnum(inProjects),
  ref: Type.Optional(Type.String({ description: 'Branch, tag or commit; the default branch unless given.' })),
});
