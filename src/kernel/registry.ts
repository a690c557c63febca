/**
 * Registries: what would run against an arrow of the import rule is a value that its owner registers, and that the
 * other capability reads from the services. The composition root puts all registrations together.
 */

/** All registered values by registry; filled before the program serves. */
export type Registered = Map<object, unknown[]>;

/** Adds values to a registry; a capability lists its own. */
export type Registration = (registered: Registered) => void;

/** A registry of values of one type: `add()` makes the registration, `all()` reads what was registered, in order. */
export class Registry<T> {
  add(...values: readonly T[]): Registration {
    return (registered) => {
      registered.set(this, [...(registered.get(this) ?? []), ...values]);
    };
  }

  all({ registered }: { registered: Registered }): readonly T[] {
    return (registered.get(this) ?? []) as T[]; // add() puts values of this type under this key
  }
}
