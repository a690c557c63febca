/** Issues as noteables: their notes over the API, quick actions, and references in system notes. */
import { sql } from 'kysely';
import { onProject } from '../../../../kernel/access/access.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { forbidden } from '../../../../platform/failure.ts';
import { integerId } from '../../../../platform/http/parameters/schema.ts';
import {
  type CrossReference,
  conversationEndpoints,
  crossReferenceTable,
  leaves,
  type NoteableDefinition,
  type NoteableResource,
  projectOf,
  stays,
} from '../../../conversation/index.ts';
import { issueState } from '../../quick-actions/issue-commands.ts';
import { readCommands } from '../../quick-actions/read-commands.ts';
import { applyEffects } from '../../quick-actions/work-command-effects.ts';
import { findIssue } from '../records/issue-find.ts';
import { issueKind, issueNoteable } from '../records/issue-noteable.ts';
import { visibleIssues } from '../records/issue-visibility.ts';
import { updateIssue } from '../writing/issue-writes.ts';

const issue: Pick<NoteableResource, 'noteable' | 'find'> = {
  noteable: integerId({ description: 'The number of the issue in the project.' }),
  find: async ({ db, actor }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_issues')) throw forbidden();
    return issueNoteable(project, await findIssue(db, project, actor, Number(named)));
  },
};

export const issueConversation = conversationEndpoints({
  ...issue,
  path: '/projects/:id/issues/:noteable_id',
  noun: 'an issue',
  read: onProject('read_issues'),
  write: onProject('create_notes'),
  notes: true,
  awards: issue,
  internal: true,
  resolvable: true,
  positioned: false,
});

type Reader = { db: Db; actor: Caller };

/** The keys of the issues that the reader may read. */
async function readableIssues({ db, actor }: Reader, named: readonly CrossReference[]) {
  const { ctes, condition } = visibleIssues(actor, sql`p.id in (select id from named)`);
  const { rows } = await sql<{ key: string }>`with named(key, id, iid) as (
    select q.key, q.home, q.iid from ${crossReferenceTable(named)} where q.path is null
    union all
    select q.key, p.id, q.iid from ${crossReferenceTable(named)}
      join namespaces n on lower(n.full_path) collate "C" = regexp_replace(q.path, '/[^/]*$', '')
      join projects p on p.namespace_id = n.id and lower(p.path) collate "C" = regexp_replace(q.path, '^.*/', '')), ${ctes}
    select named.key from named join issues i on i.project_id = named.id and i.iid = named.iid
    join issue_projects v on v.id = i.project_id where ${condition}`.execute(db);
  return rows;
}

export const issueDefinition: NoteableDefinition = {
  kind: issueKind,
  async quickActions(context, noteable, text) {
    const { db, actor } = context;
    const { project, group, authorId, iid = 0 } = noteable;
    if (!project) return undefined;
    const now = await issueState(context, await findIssue(db, project, actor, iid));
    const read = await readCommands(context, { kind: 'issue', project, group, authorId, now }, text);
    return (
      read && {
        ...read,
        async apply() {
          if (Object.keys(read.changes).length > 0)
            await updateIssue(context, project, await findIssue(db, project, actor, iid), read.changes);
          await applyEffects(context, noteable, read.effects.filter(stays));
        },
        leave: () => applyEffects(context, noteable, read.effects.filter(leaves)),
      }
    );
  },
  crossReferences: { sign: '#', readable: readableIssues },
};
