/** What the lab, the threads of its instances and the library tell each other. */
import type { Offering, Tier } from '../kernel/config.ts';

export type InstanceOptions = {
  /** Of the instance, among those of the lab; without it the lab picks one. */
  name?: string | undefined;
  tier?: Tier | undefined;
  offering?: Offering | undefined;
  /** 0, the default: a free one. */
  port?: number | undefined;
  /** What is there at its beginning: a document of YAML or JSON, and its name in what is wrong with it. */
  seed?: { text: string; name: string } | undefined;
};

export type User = { username: string; password: string; token: string };

/** Somebody whom a seed describes, with what it says of them. */
export type SeededUser = { username: string; password?: string; token?: string };

/** What is known of an instance that runs. */
export type Described = {
  name: string;
  url: string;
  token: string;
  users: { root: User; [username: string]: SeededUser };
};

/** A database, and the data folder that belongs to it. */
export type Clone = { database: string; folder: string };

/** What a thread is started with. */
export type ThreadData = {
  server: { host: string; port: number; user: string; password: string };
  /** Cloned by every instance; nobody connects to it. */
  template: string;
  /** For data folders. */
  folder: string;
  secretKey: string;
  root: User;
  host: string;
};

/** What the lab asks of a thread. */
export type ThreadHandlers = {
  /** Waits until a clone is there, so that the instance opens at once. */
  warm(value: null): Promise<void>;
  open(options: InstanceOptions & { name: string }): Promise<Described>;
  control(order: ControlOrder): Promise<{ body?: unknown }>;
  stop(value: null): Promise<void>;
};

/** What the library asks of an instance: a route of the lab's own, such as `POST /reset`, and its body. */
export type ControlOrder = { request: string; body?: unknown };

/** What a thread, or the program that started the lab, asks of the lab. */
export type LabHandlers = {
  start(options: InstanceOptions): Promise<Described>;
  stop(name: string): Promise<void>;
  control(asked: { instance: string; order: ControlOrder }): Promise<{ body?: unknown }>;
  list(value: null): Promise<{ name: string; url: string }[]>;
};
