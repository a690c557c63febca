/** A kind of noteable over the API: path, access, and features. Its owner declares it. */
import type { TInteger, TString } from 'typebox';
import type { Access } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup, AuthorizedProject } from '../../../kernel/access/find.ts';
import { type ResourceParent as Home, isProject } from '../../../kernel/access/resource-parents.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import type { Context } from '../../../kernel/api/endpoint.ts';
import { notFound } from '../../../platform/failure.ts';
import type { Noteable } from './noteables.ts';

export type FindContext = Pick<
  Context<unknown, unknown, Caller>,
  'db' | 'services' | 'settings' | 'actor' | 'request'
>;

export type NoteableResource<Path extends string = string> = {
  /** Path of one noteable, which `:noteable_id` names. */
  path: Path;
  /** The noun in summaries. */
  noun: string;
  noteable: TInteger | TString;
  tier?: 'premium';
  read: Access<Home, Caller>;
  /** Access for notes and awards; `find` answers callers who may not read. */
  write: Access<Home, Actor>;
  /** False for threads only: commits have comments of their own. */
  notes: boolean;
  /** Parameters of award paths, if there are awards: for epics the number, not the id. */
  awards: Pick<NoteableResource, 'noteable' | 'find'> | undefined;
  /** Whether there are internal notes. */
  internal: boolean;
  /** Whether threads can be resolved. */
  resolvable: boolean;
  /** Whether threads can have a position in a diff. */
  positioned: boolean;
  /** Finds the noteable; 404 for one that is missing or that the caller may not read. */
  find(context: FindContext, home: Home, named: unknown): Promise<Noteable>;
};

/** Each kind is mounted with the access of its own parent. */
export function projectOf(home: Home): AuthorizedProject {
  if (!isProject(home)) throw notFound('Project');
  return home;
}

export function groupOf(home: Home): AuthorizedGroup {
  if (isProject(home)) throw notFound('Group');
  return home;
}
