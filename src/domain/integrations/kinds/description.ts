/** What an integration is, in the terms of the table (facts-packages: Integrations). */
import type { TSchema } from 'typebox';
import type { Needs } from '../../../kernel/services.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { HookEvent, HookFlag } from '../../hooks/index.ts';

export type Field = {
  schema: TSchema;
  /** Each PUT has it. */
  required?: true;
  /** Sealed; no record shows it. */
  secret?: true;
  /** A web address: one that is called is of this network only where the administrator allows it. */
  address?: 'called' | 'shown';
};

/** The values of the fields, the secret ones among them. */
export type Properties = Readonly<Record<string, Json>>;

export type DeliveryServices = Needs<'outbound' | 'settings' | 'log' | 'repositories' | 'baseUrl'> & {
  mailer: Mailer;
  /** Aborted when the program stops. */
  ending: AbortSignal;
};

/** `commit_events` are pushes, to those that look at commits alone. */
export type IntegrationFlag = HookFlag | 'commit_events';

/** The flags of hooks that those of an integration stand for. */
export const hookFlagsOf = (flags: readonly string[]): string[] =>
  flags.map((flag) => (flag === 'commit_events' ? 'push_events' : flag));
/** The flags of integrations that stand for one of these. */
export const flagsFor = (hookFlags: readonly string[]): string[] =>
  hookFlags.includes('push_events') ? [...hookFlags, 'commit_events'] : [...hookFlags];

/** How events reach the other service. */
export type Delivery = {
  /** What is to be sent of an event, in order; nothing where the properties do not want it. */
  prepare(event: HookEvent, properties: Properties): readonly Json[] | Promise<readonly Json[]>;
  /** Sends one of them, which the id names however often it is tried; fails where it may be tried again. */
  send(services: DeliveryServices, prepared: Json, properties: Properties, id: string): Promise<void>;
};

/** The address of what a text names, such as `STONE-12`, `#12`, `T12` or `CU-1a`; undefined where the tracker has no such names. */
export type Tracker = (name: string, properties: Properties) => string | undefined;

/** How a tracker names its issues where the properties have a way of their own: a pattern in the syntax of RE2, its first group the name proper. */
export type TrackerNames = {
  /** One of them has a value where there is such a way; none is secret. */
  fields: readonly string[];
  pattern(properties: Properties): string | undefined;
};

export type Description = {
  slug: string;
  title: string;
  /** The flags that it has; all are on unless the request says otherwise. */
  events: readonly IntegrationFlag[];
  fields: Readonly<Record<string, Field>>;
  delivery?: Delivery;
  /** A PUT may set it without turning it on, by `active`. */
  mayBeOff?: true;
  /** The field with the address of a page, for the project's own page, and what it is. */
  page?: { field: string; label: 'External wiki' | 'Issue tracker' };
  /** Where references in texts lead. */
  tracker?: Tracker;
  trackerNames?: TrackerNames;
};

/** A value of a property as a text; empty where there is none. */
export const textOf = (properties: Properties, name: string): string => {
  const value = properties[name];
  return value == null ? '' : String(value);
};
