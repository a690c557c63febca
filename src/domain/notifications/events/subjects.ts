/** Subjects of notification events, from those who own them: how each kind is found, read and told of in mails. */
import type { RawBuilder } from 'kysely';
import type { AuthorizedGroup, AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { ProjectAbility } from '../../../kernel/policy/policy.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { Noteable } from '../../conversation/index.ts';
import type { NotificationEvent } from './events.ts';
import type { MailContents } from './mail-contents.ts';

/** A notification event in the payload of a job. */
export type NotificationJob = {
  /** Part of job keys and mail ids: letters, digits and hyphens. */
  name: string;
  event: NotificationEvent;
  /** The fact, as it was announced. */
  payload: Readonly<Record<string, Json>>;
  /** When it was announced, in ISO 8601. */
  at: string;
};

/** The project or group of an event. */
export type NotificationContext = {
  kind: 'project' | 'group';
  id: number;
  name: string;
  /** With the names of the groups around it. */
  fullName: string;
  fullPath: string;
  /** Ancestors of the project or group from the root; a group itself included. */
  ancestorIds: readonly number[];
  /** Whether mail is disabled for it or for an ancestor. */
  emailsDisabled: boolean;
};

/** A user who may read the project or group, with the receipt. */
export type Visitor = {
  actor: Actor;
  project: AuthorizedProject | undefined;
  group: AuthorizedGroup | undefined;
};

/** The visitor's project. Every visitor of an event in a project has it. */
export function projectOf({ project }: Visitor): AuthorizedProject {
  if (!project) throw new Error('a visitor of no project');
  return project;
}

/** The same for a group. */
export function groupOf({ group }: Visitor): AuthorizedGroup {
  if (!group) throw new Error('a visitor of no group');
  return group;
}

/** A subject as it is loaded for an event: once for the fan-out, and anew for each mail. */
export type LoadedSubject = {
  authorId: number | undefined;
  assigneeIds: readonly number[];
  reviewerIds: readonly number[];
  /** The text of the event, unless that is a note: a new description. */
  said: string | null;
  /** The noteable that recipients must be able to read; without it, access to the project or group suffices. */
  targetFor?(visitor: Visitor): Noteable;
  /** What recipients must be allowed to in the project, of a subject that is no noteable. */
  ability?: ProjectAbility;
  /** When it happened, where the subject has a time. */
  at?: Date;
  /** The contents of the mail; the description is Markdown. */
  contents(): Promise<MailContents & { description?: string | null }>;
};

export type Loading = {
  services: Needs<'database' | 'repositories' | 'baseUrl'>;
  context: NotificationContext;
  job: NotificationJob;
  /** The row that the kind selects, as JSON: a time is a text. Null where there is none. */
  row: unknown;
};

/** A kind of subjects. */
export type NotificationSubject = {
  kind: string;
  /** Selects the row of the event's subject, which is read with the event's project or group. */
  select?(event: NotificationEvent): RawBuilder<unknown>;
  /** Loads a subject; undefined when it is gone, or the event is out of date. */
  load(loading: Loading): Promise<LoadedSubject | undefined>;
  /** Selects the `user_id` of all who take part in the subject. */
  participants?(event: NotificationEvent): RawBuilder<unknown>;
  /** Where users subscribe to subjects of the kind. */
  subscription?: {
    /** It refers to the subject in subscriptions and label links. */
    column: string;
    /** Ends the user's subscription to the subject while that exists. */
    end(tx: Db, userId: number, id: number): Promise<void>;
    /** Names the subject on the page that ends it: `this issue`. */
    name: string;
    /** The sentence on that page about mails that still come. */
    still: string;
  };
};

export const notificationSubjects = new Registry<NotificationSubject>();
