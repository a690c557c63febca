/** A running Ashlar for a test file: its own database cloned from the template, real HTTP on loopback. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, inject } from 'vitest';
import { type App, type AppOptions, createApp } from '../../src/app.ts';
import { capabilities } from '../../src/capabilities.ts';
import type { Capability } from '../../src/kernel/capability.ts';
import { type Config, readConfig } from '../../src/kernel/config.ts';
import type { Services } from '../../src/kernel/services.ts';
import { connect } from '../../src/platform/db/database.ts';
import { createLoadGauge } from '../../src/platform/http/server/overload.ts';
import { createLog } from '../../src/platform/log.ts';
import { ROOT_TOKEN, SECRET_KEY, TEMPLATE } from './postgres.ts';
import { validateReplies } from './replies.ts';

export { movableContainers } from '../../src/capabilities.ts';
export { ROOT_PASSWORD, ROOT_TOKEN, SECRET_KEY } from './postgres.ts';

export type TestApp = {
  readonly app: App;
  readonly url: string;
  /** Lines that the program logged. */
  readonly log: string[];
  call: Call;
  /** As root. */
  root: Call;
  /** As the user of the token. */
  as(token: string): Call;
};

export type Called = {
  status: number;
  headers: Headers;
  /** Parsed when it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by reading it.
  body: any;
  text: string;
};

/** `method path` below /api/v4 (or from the root with `/-/`, `/users/sign_in`…: give a full path with `raw`). */
export type Call = (
  request: string,
  options?: {
    body?: unknown;
    form?: string;
    query?: string;
    headers?: Record<string, string>;
    raw?: boolean;
  },
) => Promise<Called>;

function caller(url: () => string, credentials: Record<string, string>): Call {
  return async (request, options = {}) => {
    const [method = 'GET', path = '/'] = request.split(' ');
    const headers: Record<string, string> = { ...credentials, ...options.headers };
    let body: string | undefined;
    if (options.form !== undefined) {
      headers['content-type'] ??= 'application/x-www-form-urlencoded';
      body = options.form;
    } else if (options.body !== undefined) {
      headers['content-type'] ??= 'application/json';
      body = JSON.stringify(options.body);
    }
    const query = options.query === undefined ? '' : `?${options.query}`;
    const response = await fetch(`${url()}${options.raw ? '' : '/api/v4'}${path}${query}`, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('application/json') && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : undefined,
      text,
    };
  };
}

/** The capabilities, one replaced if need be. Nothing runs by the clock: a test calls its tasks. */
const chosen = (instead?: (services: Services) => Capability) => (services: Services) => {
  const other = instead?.(services);
  return capabilities(services).map((each) => ({
    ...(other && each.name === other.name ? other : each),
    schedules: [],
  }));
};

/** A running program, as its clients know it. */
export type Site = Pick<TestApp, 'url' | 'call' | 'root' | 'as'>;

/** The program at an address, whose root has this token. */
export function siteAt(url: string, rootToken: string): Site {
  const as = (token: string) => caller(() => url, { 'private-token': token });
  return { url, call: caller(() => url, {}), root: as(rootToken), as };
}

/** Runs a statement about databases. */
async function administer(statement: string): Promise<void> {
  const admin = connect(
    { ...inject('postgres'), database: 'postgres' },
    { max: 1, statementTimeout: 0, name: 'tests' },
  );
  await admin.unsafe(statement);
  await admin.end();
}

/**
 * Starts an Ashlar before the tests of the calling file and stops it after them. Every reply is validated against its
 * schema before it leaves. Rate limits are off unless `limits` asks for them.
 */
export function useApp(
  options: {
    env?: Record<string, string>;
    limits?: boolean;
    /** It serves requests alone: no relay and no jobs. */
    still?: boolean;
    /** Replaces the capability of its name. */
    instead?: (services: Services) => Capability;
  } = {},
): TestApp {
  let app: App | undefined;
  let url = '';
  const log: string[] = [];
  const folder = mkdtempSync(join(inject('dataFolders'), 'data-'));
  const database = `test_${randomUUID().replaceAll('-', '')}`;

  beforeAll(async () => {
    const server = inject('postgres');
    // Files are copied for a third of what the same pages cost as log.
    await administer(`create database ${database} template ${TEMPLATE} strategy file_copy`);
    const config: Config = readConfig({
      ASHLAR_DATA: folder,
      ASHLAR_PORT: '0',
      ...options.env,
    });
    const appOptions: AppOptions = {
      config,
      target: { ...server, database },
      secretKey: SECRET_KEY,
      log: createLog((text) => log.push(text)),
      observe: validateReplies,
      capabilities: chosen(options.instead),
      load: createLoadGauge(undefined, Number.POSITIVE_INFINITY),
    };
    app = createApp(appOptions);
    if (!options.limits) await app.services.settings.write(app.services.database.db, withoutLimits);
    app.services.settings.forget();
    url = options.still ? await app.server.listen({ host: '127.0.0.1', port: 0 }) : await app.start();
  });

  afterAll(async () => {
    await app?.stop();
    // The modules of a worker's test files stay in memory until its last one.
    app = undefined;
    await administer(`drop database if exists ${database} with (force)`);
    rmSync(folder, { recursive: true, force: true });
  });

  const address = () => url;
  const as = (token: string) => caller(address, { 'private-token': token });
  return {
    get app() {
      if (!app) throw new Error('the app is only there inside tests');
      return app;
    },
    get url() {
      return url;
    },
    log,
    call: caller(address, {}),
    root: as(ROOT_TOKEN),
    as,
  };
}

const withoutLimits = {
  throttle_unauthenticated_api_enabled: false,
  throttle_authenticated_api_enabled: false,
  users_get_by_id_limit: 0,
  projects_api_limit: 0,
  projects_api_rate_limit_unauthenticated: 0,
  project_api_limit: 0,
  groups_api_limit: 0,
  group_api_limit: 0,
  group_projects_api_limit: 0,
  members_delete_limit: 0,
  project_members_api_limit: 0,
  user_projects_api_limit: 0,
  issues_create_limit: 0,
  notes_create_limit: 0,
  project_export_limit: 0,
  project_download_export_limit: 0,
  project_import_limit: 0,
  group_export_limit: 0,
  group_download_export_limit: 0,
  group_import_limit: 0,
};
