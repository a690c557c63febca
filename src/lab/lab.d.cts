/** `ashlar/lab`: instances of Ashlar for tests. docs/lab.md tells more. */

export type Options = {
  /** `ultimate` unless told. */
  tier?: 'free' | 'premium' | 'ultimate';
  /** `self_managed` unless told. */
  offering?: 'self_managed' | 'hosted';
  /** Without it, a free one. */
  port?: number;
  /** What is there at its beginning: the path of a file of YAML or JSON, or a document. docs/lab-seeds.md has its form. */
  seed?: string | object;
};

export type User = { username: string; password: string; token: string };

/** What becomes of some requests. Of `status`, `rate_limit` and `cut` there is one at most; the others come beside it. */
export type FaultRule = {
  method?: string;
  /** As it is documented: `/projects/:id/issues`, or `/projects/:id/*` for all below; else the whole path. */
  route?: string;
  /** Of the requests, above 0, to 1. */
  share?: number;
  /** For so many requests; then the rule is gone. */
  count?: number;
  /** Milliseconds before anything else. */
  delay?: number;
  /** The answer, without asking the app. `body` is JSON, or a text as it is. */
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** 429 with the headers of a throttle; `retry_after` in seconds. */
  rate_limit?: { limit: number; retry_after: number };
  /** The connection ends before the app is asked, after it has worked, or within the answer. */
  cut?: 'before' | 'after' | 'during';
  /** Bytes of the answer's body a second. */
  slow?: number;
  /** Lists lack `x-total`, `x-total-pages` and the link to the last page. */
  missing_totals?: true;
  /** Reads are answered by what there was when the latest such rule was made. */
  stale?: true;
};

export type LoggedRequest = {
  id: number;
  at: string;
  method: string;
  /** As it was requested, without the query. */
  path: string;
  query: Record<string, string | string[]>;
  /** Of JSON or a form, of at most 64 KiB; else null. */
  body: unknown;
  /** Of the app; null where it was not asked. */
  route: string | null;
  /** Of the answer, also where a cut kept it from the client; null where there was none. */
  status: number | null;
  username: string | null;
  /** The name of the access token. */
  credential: string | null;
  /** The id of the rule that it met. */
  fault: number | null;
};

export type Mail = {
  id: string;
  at: string;
  from: string;
  to: string[];
  subject: string;
  text: string;
  html: string;
  /** By their names in lower case. */
  headers: Record<string, string>;
};

export type Delivery = {
  id: number;
  at: string;
  name: string;
  method: string;
  headers: Record<string, string>;
  /** Parsed, where it is JSON. */
  body: unknown;
};

export interface Ashlar extends AsyncDisposable {
  /** Such as `http://127.0.0.1:43210`; it stays the same as long as the instance is there. */
  readonly url: string;
  /** A personal access token of `root`, an administrator, with every scope. */
  readonly token: string;
  readonly users: {
    readonly root: User;
    /** Those of the seed, with the password and the first token that it gives them. */
    readonly [username: string]: { username: string; password?: string; token?: string };
  };
  /** What is there now, as a seed. */
  describe(): Promise<object>;
  /** Takes everything back to the beginning, which is the seed: records, repositories and files; ids start again. */
  reset(): Promise<void>;
  /** Keeps the present state under a name, in place of what has it already. */
  snapshot(name: string): Promise<void>;
  /** Takes everything back to a snapshot, any number of times. */
  restore(name: string): Promise<void>;
  /** Rules for what goes wrong. The first one that a request meets counts. */
  readonly faults: {
    add(rule: FaultRule): Promise<FaultRule & { id: number }>;
    list(): Promise<(FaultRule & { id: number })[]>;
    remove(id: number): Promise<void>;
    clear(): Promise<void>;
  };
  /** The latest 10,000 requests, the oldest first. */
  readonly log: { list(): Promise<LoggedRequest[]>; clear(): Promise<void> };
  /** Mails that the instance sent, the oldest first. */
  readonly mail: { list(): Promise<Mail[]>; clear(): Promise<void> };
  /** Receivers of webhooks: they keep what is sent to them, the latest 1,000 within 64 MiB, and answer with the status. */
  readonly hooks: {
    url(name: string, options?: { status?: number }): string;
    list(name?: string): Promise<Delivery[]>;
    clear(): Promise<void>;
  };
  /**
   * The instance's time, which is the machine's until it is moved, and after `reset()` and `restore()`. What has come due
   * (expiries, jobs, schedules) is done when these return, unless it takes longer than ten seconds.
   */
  readonly clock: {
    now(): Promise<Date>;
    /** From 1970 to 2999, also back. A frozen clock stays frozen. */
    set(time: Date | string): Promise<void>;
    advance(by: {
      days?: number;
      hours?: number;
      minutes?: number;
      seconds?: number;
      milliseconds?: number;
    }): Promise<void>;
    /** It stands still, at this time or the present one. */
    freeze(time?: Date | string): Promise<void>;
    /** It goes on from where it is. */
    resume(): Promise<void>;
    /** Back to the machine's time. */
    clear(): Promise<void>;
  };
  /** Ends the instance; nothing of it is left. What is not stopped ends with this process, however that ends. */
  stop(): Promise<void>;
}

/** Starts an instance on a free port of this machine. The first takes a second or two, further ones a fraction. */
export declare function startAshlar(options?: Options): Promise<Ashlar>;
