/** `ashlar/lab`: instances of Ashlar for tests. docs/lab.md tells more. */

export type Options = {
  /** `ultimate` unless told. */
  tier?: 'free' | 'premium' | 'ultimate';
  /** `self_managed` unless told. */
  offering?: 'self_managed' | 'hosted';
  /** Without it, a free one. */
  port?: number;
};

export type User = { username: string; password: string; token: string };

export interface Ashlar extends AsyncDisposable {
  /** Such as `http://127.0.0.1:43210`; it stays the same as long as the instance is there. */
  readonly url: string;
  /** A personal access token of `root`, an administrator, with every scope. */
  readonly token: string;
  readonly users: { readonly root: User };
  /** Takes everything back to the beginning: records, repositories and files; ids start again. */
  reset(): Promise<void>;
  /** Keeps the present state under a name, in place of what has it already. */
  snapshot(name: string): Promise<void>;
  /** Takes everything back to a snapshot, any number of times. */
  restore(name: string): Promise<void>;
  /** Ends the instance; nothing of it is left. What is not stopped ends with this process, however that ends. */
  stop(): Promise<void>;
}

/** Starts an instance on a free port of this machine. The first takes a second or two, further ones a fraction. */
export declare function startAshlar(options?: Options): Promise<Ashlar>;
