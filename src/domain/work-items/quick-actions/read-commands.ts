/** Resolves the references in the commands of a text, and parses the commands for a user. */

import { type AuthorizedProject, authorizeGroup, selectProjects } from '../../../kernel/access/find.ts';
import { Failure } from '../../../platform/failure.ts';
import {
  type ActorContext,
  type Command,
  commandsIn,
  type Interpretation,
  interpretCommands,
} from '../../conversation/index.ts';
import { destinationIn } from './move-commands.ts';
import { argumentsOf, MAX_REFERENCES, namedRecords } from './named-records.ts';
import { workCommandRules } from './work-command-rules.ts';
import type { Changes, Known, WorkEffect } from './work-command-terms.ts';
import { type Home, workKinds } from './work-kinds.ts';

/** The issue or epic of the commands and its state; a new issue is open and its author's. */
export type Spoken = Home & {
  kind: 'issue' | 'epic';
  authorId: number | undefined;
  now: Known['now'];
};

/** The state of a noteable that is being created. */
export const atCreation: Known['now'] = {
  state: 'opened',
  confidential: false,
  locked: false,
  assigneeIds: [],
  issueType: 'issue',
  stage: 'new',
};

/** Ids by references such as `#1` and `group/project#1`, of those that the user may use. */
async function referred(
  context: ActorContext,
  home: Home,
  commands: readonly Command[],
  sign: '#' | '&',
): Promise<Map<string, number>> {
  const kind = workKinds.all(context.services).find((each) => each.sign === sign);
  if (!kind) return new Map();
  const pattern = new RegExp(`^(?:([\\w./-]+))?${sign}(\\d{1,9})$`);
  const references = commands
    .flatMap(({ argument }) => argument.split(/[\s,]+/))
    .filter((reference) => pattern.test(reference));
  const found = await Promise.all(
    [...new Set(references)].slice(0, MAX_REFERENCES).map(async (reference) => {
      const [, path = '', iid] = pattern.exec(reference) ?? [];
      try {
        return [[reference, (await kind.find(context, home, path, Number(iid))).id] as const];
      } catch (error) {
        if (error instanceof Failure && error.kind !== 'unavailable') return [];
        throw error;
      }
    }),
  );
  return new Map(found.flat());
}

/** Whether the user may create epics in the project's group. */
async function mayPromote(
  { services, actor }: Pick<ActorContext, 'services' | 'actor'>,
  project: AuthorizedProject | undefined,
): Promise<boolean> {
  if (!project || services.config.tier === 'free') return false;
  try {
    await authorizeGroup(services.database.points, actor, 'create_epics', project.row.namespace_id);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return false;
    throw error;
  }
}

/** The text without its commands, and their effects; undefined for a text without any. */
export async function readCommands(
  context: ActorContext,
  spoken: Spoken,
  text: string | null | undefined,
): Promise<Interpretation<Changes, WorkEffect> | undefined> {
  const { services, actor } = context;
  const { kind, project, group } = spoken;
  const rules = workCommandRules[kind];
  const commands = commandsIn(text ?? '', rules);
  if (commands.length === 0) return undefined;
  const { points } = services.database;
  const paths = argumentsOf(commands, /^(move|clone)$/).flatMap(
    (argument) => destinationIn(argument).path ?? [],
  );
  const promotes = commands.some(({ name }) => name === 'promote');
  const [named, issues, epics, projects, promote] = await Promise.all([
    namedRecords(context, project ?? group, project, commands),
    referred(context, spoken, commands, '#'),
    referred(context, spoken, commands, '&'),
    selectProjects(points, actor, 'update_issues', paths.slice(0, MAX_REFERENCES)),
    promotes && mayPromote({ services, actor }, project),
  ]);
  const metadata = project?.may('update_issues') ?? group?.may('update_epics') ?? false;
  // Authors of epics change them only while they may plan in the group.
  const own = kind === 'issue' && (spoken.authorId === actor.id || spoken.now.assigneeIds.includes(actor.id));
  const known: Known = {
    kind,
    me: actor,
    may: { metadata, update: metadata || own, lock: metadata, promote },
    now: spoken.now,
    takesSeveral: services.config.tier !== 'free',
    ...named,
    issues,
    epics,
    projects: new Map([...projects].map(([path, { id }]) => [path, id])),
    projectId: project?.id,
  };
  return interpretCommands(text ?? '', known, rules);
}
