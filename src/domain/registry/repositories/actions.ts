/** Deletes tags and whole repositories of images for those who ask by the REST API. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { levelOf } from '../../../kernel/protection/levels.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import { patternCompiler, wholePatternProblem } from '../../../platform/patterns/pattern.ts';
import { guardOf, type Rules, selectRules } from '../protection/queries.ts';
import { isImmutable, neededInRepository } from '../protection/rules.ts';
import { removeTags, type TagsRemoval } from '../tags/removal.ts';
import { ageIn } from '../tags/rules.ts';
import { removeLater } from './removal.ts';
import type { TagsDeletion } from './schema.ts';

type Context = { db: Db; actor: Actor; subject: AuthorizedProject };
type Unmodified = (updatedAt: Date) => void;

type LockedRepository = { id: number; name: string; updated_at: Date };

/** Locked until the transaction ends; 404 where the project has none of this id, or it is being deleted. */
async function lockRepository(tx: Db, { subject }: Context, id: number): Promise<LockedRepository> {
  const { rows } = await sql<LockedRepository>`
    select id, name, updated_at from container_repositories
    where project_id = ${subject.id} and id = ${id} and status is null for no key update`.execute(tx);
  return found(rows[0], 'Container Repository');
}

/** The caller's level and the project's rules; 403 where one keeps the repository from the caller. */
async function requireDeletable(
  tx: Db,
  { actor, subject }: Context,
  { name }: LockedRepository,
): Promise<{ level: number; rules: Rules }> {
  const level = levelOf(actor, subject.role);
  const rules = await selectRules(tx, subject);
  if (level < neededInRepository(rules.repository, name, 'delete_level'))
    throw forbidden('the repository is protected from deletion');
  return { level, rules };
}

const audit = (
  tx: Db,
  { actor, subject }: Context,
  event: string,
  { id, name }: LockedRepository,
  details: { tag?: string } = {},
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event,
      details: {
        target_id: id,
        target_type: 'ContainerRepository',
        target_details: `${subject.fullPath.toLowerCase()}${name === '' ? '' : `/${name}`}`,
        ...details,
      },
    },
  });

/** Whether a rule keeps any tag from a caller of the level; all tags of a repository are not looked through. */
const keepsTags = ({ tag }: Rules, level: number): boolean =>
  tag.some((rule) => isImmutable(rule) || level < (rule.delete_level ?? 0));

async function hasTags(tx: Db, { id }: LockedRepository): Promise<boolean> {
  const { rows } = await sql`select from container_tags where repository_id = ${id} limit 1`.execute(tx);
  return rows.length > 0;
}

/** Ends the repository, whose content goes in the background: its name is free at once. */
export const scheduleRemoval = (context: Context, id: number, unmodified: Unmodified): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const repository = await lockRepository(tx, context, id);
    unmodified(repository.updated_at);
    const { level, rules } = await requireDeletable(tx, context, repository);
    if (keepsTags(rules, level) && (await hasTags(tx, repository)))
      throw forbidden('tags of the project are protected from deletion');
    await sql`update container_repositories set status = 'delete_scheduled' where id = ${id}`.execute(
      ahead(tx),
    );
    await removeLater(tx, id);
    await audit(tx, context, 'container_repository_deletion_marked', repository);
  });

/** Deletes one tag; its manifest stays. */
export const deleteOneTag = (
  context: Context,
  { repository_id, tag_name }: { repository_id: number; tag_name: string },
  unmodified: Unmodified,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const repository = await lockRepository(tx, context, repository_id);
    const { level, rules } = await requireDeletable(tx, context, repository);
    const { rows } = await sql<{ id: number; updated_at: Date }>`
      select id, updated_at from container_tags where repository_id = ${repository_id} and name = ${tag_name}
      for update`.execute(tx);
    const tag = found(rows[0], 'Tag');
    const guard = await guardOf(rules, level);
    const pattern = guard?.deleteRefusedBy(tag_name);
    if (pattern !== undefined) throw forbidden(`the tag is protected by the pattern ${pattern}`);
    unmodified(tag.updated_at);
    await ahead(tx).deleteFrom('container_tags').where('id', '=', tag.id).execute();
    await audit(tx, context, 'container_repository_tag_deleted', repository, { tag: tag_name });
  });

const refused = (text: string): Failure => new Failure('bad_request', text, { error: text });

/** 400 with the parameter that is wrong. */
async function readSelection(input: TagsDeletion): Promise<TagsRemoval['selection']> {
  const compile = await patternCompiler();
  for (const name of ['name_regex_delete', 'name_regex', 'name_regex_keep'] as const) {
    const pattern = input[name];
    const problem = pattern === undefined ? undefined : wholePatternProblem(compile, pattern);
    if (problem !== undefined) throw refused(`${name} is an invalid regexp: ${problem}`);
  }
  const age = input.older_than === undefined ? undefined : ageIn(input.older_than);
  if (input.older_than !== undefined && age === undefined) throw refused('older_than is invalid');
  return {
    delete: input.name_regex_delete || input.name_regex || '',
    keep: input.name_regex_keep || null,
    keepNewest: input.keep_n ?? 0,
    before: age === undefined ? null : new Date(now().getTime() - age).toISOString(),
  };
}

const HOUR_MS = 3_600_000;

/** Has tags deleted in the background; 400 within an hour after the last time. */
export async function scheduleTagsRemoval(
  context: Context,
  input: TagsDeletion,
  unmodified: Unmodified,
): Promise<void> {
  const selection = await readSelection(input);
  const { repository_id: id } = input;
  await inTransaction(context.db, async (tx) => {
    const repository = await lockRepository(tx, context, id);
    unmodified(repository.updated_at);
    const { level } = await requireDeletable(tx, context, repository);
    const hourAgo = new Date(now().getTime() - HOUR_MS);
    const { rows } = await sql`
      update container_repositories set tags_deleted_at = ${now()}
      where id = ${id} and (tags_deleted_at is null or tags_deleted_at <= ${hourAgo}) returning 1`.execute(
      tx,
    );
    if (rows.length === 0)
      throw refused(
        'This request has already been made. You can run this at most once an hour for a given container repository',
      );
    await removeTags(tx, [{ repository_id: id, level, selection }]);
    await audit(tx, context, 'container_repository_tags_deleted', repository);
  });
}
