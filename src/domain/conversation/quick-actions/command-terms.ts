/** Types of the rules of quick actions, and of the context that they are parsed in. Pure. */

/** An effect of a command other than a change of properties. */
export type Effect = {
  do: string;
  /** It makes another noteable of this one: it runs last, and once. */
  leaves?: true;
};

/** The part of the context that every command has: its noteable, its user, and what the user may do. */
export type Known = {
  /** The noun for the noteable in messages. */
  kind: string;
  me: { id: number; username: string };
  /** Permissions of the user: those of authors, and those of the team. */
  may: { update: boolean; metadata: boolean };
};

export type Outcome<C, E> = {
  changes?: C;
  effects?: readonly E[];
  message?: string;
  /** Replaces the command in the text. */
  text?: string;
};

/** A quick action, in the context `K`, with changes `C` and effects `E`. */
export type CommandRule<K, C, E> = {
  names: readonly [string, ...string[]];
  /** All who may comment; the author, assignees and the team; the team. */
  who: 'speakers' | 'author' | 'team';
  /** Undefined where it does not apply; `before` is the changes of the commands before it. */
  mean(argument: string, known: K, before: C): Outcome<C, E> | undefined;
};

/** Arguments after the mark, bare or quoted: `~bug ~"two words"`; words without a mark count too. */
export const referencesIn = (mark: string, argument: string): string[] =>
  [...argument.matchAll(/([~%@#&]?)(?:"([^"]+)"|([^\s,"]+))/g)].flatMap(([, sign, quoted, bare]) =>
    sign === '' || sign === mark ? (quoted ?? bare ?? []) : [],
  );
