/** What an integration is, in the terms of the table (facts-packages: Integrations). */
import type { TSchema } from 'typebox';
import type { Needs } from '../../../kernel/services.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { HookEvent, HookFlag } from '../../hooks/index.ts';
import type { Tracker } from '../references/trackers.ts';

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

export type DeliveryServices = Needs<'outbound' | 'settings' | 'log'>;

/** How events reach the other service. */
export type Delivery = {
  /** What is to be sent of an event, each by a job of its own; nothing where the properties do not want it. */
  prepare(event: HookEvent, properties: Properties): readonly Json[];
  /** Sends one of them; fails where it may be tried again. */
  send(services: DeliveryServices, prepared: Json, properties: Properties): Promise<void>;
};

export type Description = {
  slug: string;
  title: string;
  /** The flags that it has; all are on unless the request says otherwise. */
  events: readonly HookFlag[];
  fields: Readonly<Record<string, Field>>;
  delivery?: Delivery;
  /** Where references in texts lead. */
  tracker?: Tracker;
};

/** A value of a property as a text; empty where there is none. */
export const textOf = (properties: Properties, name: string): string => {
  const value = properties[name];
  return value == null ? '' : String(value);
};
