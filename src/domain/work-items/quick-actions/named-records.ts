/** Finds the users, labels and milestones that the commands of a text name. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type ResourceParent, reachOf } from '../../../kernel/access/resource-parents.ts';
import { now } from '../../../platform/clock.ts';
import { type ActorContext, type Command, referencesIn, usersByName } from '../../conversation/index.ts';
import { availableLabels, availableMilestoneByTitle } from '../../planning/index.ts';
import { findMetadata } from './metadata-sources.ts';
import type { NamedRecords } from './shared-command-terms.ts';

export const MAX_REFERENCES = 20;

/** The arguments of the commands whose names fit. */
export const argumentsOf = (commands: readonly Command[], pattern: RegExp): string[] =>
  commands.filter(({ name }) => pattern.test(name)).map(({ argument }) => argument);

/** The records by their names; labels and milestones are those of the noteable's parent. */
export async function namedRecords(
  context: ActorContext,
  parent: ResourceParent | undefined,
  project: AuthorizedProject | undefined,
  commands: readonly Command[],
): Promise<NamedRecords> {
  const { db } = context;
  const names = argumentsOf(commands, /assign|review/).flatMap((argument) =>
    referencesIn('@', argument.toLowerCase()),
  );
  const labels = argumentsOf(commands, /label/).flatMap((argument) => [
    argument,
    ...referencesIn('~', argument),
  ]);
  const titles = argumentsOf(commands, /^milestone$/).flatMap((argument) => [
    argument,
    ...referencesIn('%', argument),
  ]);
  const copied = project ? argumentsOf(commands, /^copy_metadata$/) : [];
  const [people, labelRows, milestones, metadata] = await Promise.all([
    usersByName(db, names.slice(0, 100)),
    parent ? availableLabels(db, reachOf(parent), labels.slice(0, 200)) : [],
    Promise.all(
      titles
        .slice(0, MAX_REFERENCES)
        .map(async (title) => project && availableMilestoneByTitle(db, project, title)),
    ),
    Promise.all(
      copied
        .slice(0, MAX_REFERENCES)
        .map(async (named) => [named, project && (await findMetadata(context, project, named))] as const),
    ),
  ]);
  return {
    today: now().toISOString().slice(0, 10),
    users: new Map(people.map(({ username, id }) => [username.toLowerCase(), id])),
    labels: new Set(labelRows.map(({ name }) => name)),
    metadata: new Map(metadata.flatMap(([named, found]) => (found ? [[named, found] as const] : []))),
    milestones: new Map(milestones.flatMap((row) => (row ? [[row.title, row.id] as const] : []))),
  };
}
