/**
 * What this process has stored of late, for the digest that comes to it in a moment: most bodies need not come back from
 * the database. What is not here is read there.
 */
export type RecentBodies = {
  /** Keeps the body of a report of the spool, while there is room. */
  keep(id: number, body: Uint8Array): void;
  /** Hands it out, once. */
  take(id: number): Uint8Array | undefined;
  /** Those before it are digested, by whomever. */
  forgetBefore(id: number): void;
};

const MOST_BYTES = 16 * 1_048_576;

export function createRecentBodies(most = MOST_BYTES): RecentBodies {
  /** In the order of their ids, but for what was stored at the same time. */
  const bodies = new Map<number, Uint8Array>();
  let bytes = 0;

  function take(id: number): Uint8Array | undefined {
    const body = bodies.get(id);
    if (!body) return undefined;
    bodies.delete(id);
    bytes -= body.length;
    return body;
  }

  return {
    keep(id, body) {
      if (bytes + body.length > most) return;
      bodies.set(id, body);
      bytes += body.length;
    },
    take,
    forgetBefore(id) {
      for (const known of bodies.keys()) if (known < id) take(known);
    },
  };
}
