/** Events as generations of clients report them, in the shapes of their protocols. */

export type Reported = {
  client: string;
  event: Record<string, unknown>;
  /** The name of its error, and the description of the event. */
  name: string;
  description: string;
  actor: string;
  level: string;
  timestamp: string;
  /** The functions of the application on the stack of the last exception. */
  inApp: readonly (string | null)[];
  tags?: Record<string, string>;
  user?: string;
  breadcrumbs?: number;
};

export const reportedEvents: readonly Reported[] = [
  {
    client: 'sentry-python 2 under Django',
    event: {
      event_id: '9a3f5c1d2e4b4f6d8c7b6a5948372615',
      platform: 'python',
      level: 'error',
      timestamp: '2026-10-30T09:15:02.123456Z',
      transaction: '/orders/{id}/',
      exception: {
        values: [
          {
            mechanism: { type: 'chained', handled: true, exception_id: 1, parent_id: 0 },
            module: null,
            type: 'KeyError',
            value: "'price'",
            stacktrace: {
              frames: [
                {
                  filename: 'shop/prices.py',
                  abs_path: '/srv/shop/prices.py',
                  function: 'lookup',
                  module: 'shop.prices',
                  lineno: 14,
                  pre_context: ['def lookup(item):'],
                  context_line: '    return item["price"]',
                  post_context: [''],
                  vars: { item: { name: "'stone'" }, secret_key: "'abc'" },
                  in_app: true,
                },
              ],
            },
          },
          {
            mechanism: { type: 'django', handled: false, exception_id: 0 },
            module: 'shop.errors',
            type: 'PriceMissing',
            value: 'no price for stone',
            stacktrace: {
              frames: [
                {
                  filename: 'django/core/handlers/exception.py',
                  abs_path: '/usr/lib/python3/site-packages/django/core/handlers/exception.py',
                  function: 'inner',
                  module: 'django.core.handlers.exception',
                  lineno: 55,
                  in_app: false,
                },
                {
                  filename: 'shop/views.py',
                  abs_path: '/srv/shop/views.py',
                  function: 'order',
                  module: 'shop.views',
                  lineno: 31,
                  in_app: true,
                },
              ],
            },
          },
        ],
      },
      breadcrumbs: {
        values: [
          { type: 'default', category: 'query', message: 'SELECT 1', timestamp: '2026-10-30T09:15:01Z' },
        ],
      },
      tags: { shop: 'north' },
      user: { id: 7, email: 'ada@example.com', ip_address: '192.0.2.1' },
      request: {
        url: 'https://shop.example/orders/3/',
        method: 'GET',
        headers: { Cookie: 'sessionid=abc' },
        env: { REMOTE_ADDR: '192.0.2.1' },
      },
      contexts: { runtime: { name: 'CPython', version: '3.13.1' } },
      modules: { django: '5.1', 'djangorestframework-simplejwt': '5.3' },
      sdk: { name: 'sentry.python.django', version: '2.19.0' },
    },
    name: 'PriceMissing',
    description: 'no price for stone',
    actor: '/orders/{id}/',
    level: 'error',
    timestamp: '2026-10-30T09:15:02.123Z',
    inApp: ['order'],
    tags: { shop: 'north' },
    user: '7',
    breadcrumbs: 1,
  },
  {
    client: '@sentry/node 9',
    event: {
      event_id: 'b1c2d3e4f5061728394a5b6c7d8e9f00',
      platform: 'node',
      timestamp: 1793356502.5,
      exception: {
        values: [
          {
            type: 'RangeError',
            value: 'no stone left',
            mechanism: { type: 'onuncaughtexception', handled: false },
            stacktrace: {
              frames: [
                {
                  filename: 'node:internal/process/task_queues',
                  module: 'task_queues',
                  function: 'processTicksAndRejections',
                  lineno: 105,
                  colno: 5,
                  in_app: false,
                },
                {
                  filename: '/srv/walls/node_modules/express/lib/router.js',
                  module: 'express.lib:router',
                  function: 'next',
                  lineno: 3,
                  colno: 1,
                  in_app: false,
                },
                {
                  filename: '/srv/walls/lay.js',
                  module: 'lay',
                  function: 'layCourse',
                  lineno: 12,
                  colno: 9,
                  in_app: true,
                },
              ],
            },
          },
        ],
      },
      breadcrumbs: [{ timestamp: 1793356502.1, category: 'console', level: 'log', message: 'laying' }],
      server_name: 'yard',
      environment: 'production',
      release: 'walls@1.2.0',
      sdk: { name: 'sentry.javascript.node', version: '9.0.0', packages: [] },
      contexts: { trace: { trace_id: 'a', span_id: 'b' }, runtime: { name: 'node', version: 'v24.1.0' } },
    },
    name: 'RangeError',
    description: 'no stone left',
    actor: 'layCourse (lay)',
    level: 'error',
    timestamp: '2026-10-30T10:35:02.500Z',
    inApp: ['layCourse'],
    breadcrumbs: 1,
  },
  {
    client: '@sentry/browser 9',
    event: {
      event_id: 'c1c2d3e4f5061728394a5b6c7d8e9f00',
      platform: 'javascript',
      timestamp: 1793356502,
      level: 'warning',
      request: {
        url: 'https://walls.example/?token=abc',
        headers: { Referer: 'https://a.example/', 'User-Agent': 'Mozilla/5.0' },
      },
      exception: {
        values: [
          {
            type: 'UnhandledRejection',
            value: 'Object captured as promise rejection with keys: code',
            mechanism: { type: 'onunhandledrejection', handled: false },
            stacktrace: {
              frames: [
                {
                  filename: 'https://walls.example/assets/vendor-3fa92bc1.js',
                  function: 'e',
                  lineno: 1,
                  colno: 4001,
                  in_app: true,
                },
                {
                  filename: 'https://walls.example/assets/app-81bd02ac.js',
                  function: '?',
                  lineno: 1,
                  colno: 77,
                  in_app: true,
                },
              ],
            },
          },
        ],
      },
      extra: { __serialized__: { code: 7 } },
    },
    name: 'UnhandledRejection',
    description: 'Object captured as promise rejection with keys: code',
    actor: '? (https://walls.example/assets/app-81bd02ac.js)',
    level: 'warning',
    timestamp: '2026-10-30T10:35:02.000Z',
    inApp: ['e', '?'],
  },
  {
    client: 'sentry-ruby 5',
    event: {
      event_id: 'd1c2d3e4f5061728394a5b6c7d8e9f00',
      platform: 'ruby',
      level: 'error',
      timestamp: '2026-10-30T10:35:02Z',
      transaction: 'WallsController#show',
      exception: {
        values: [
          {
            type: 'NoMethodError',
            value: "undefined method 'lay' for nil (NoMethodError)",
            module: '',
            thread_id: 12,
            stacktrace: {
              frames: [
                {
                  project_root: '/app',
                  abs_path: '/usr/lib/ruby/gems/3.4/gems/rack-3/lib/rack.rb',
                  function: 'call',
                  lineno: 9,
                  in_app: false,
                  filename: 'rack.rb',
                },
                {
                  abs_path: '/app/app/controllers/walls_controller.rb',
                  function: 'WallsController#show',
                  lineno: 5,
                  in_app: true,
                  filename: 'app/controllers/walls_controller.rb',
                },
              ],
            },
          },
        ],
      },
      breadcrumbs: { values: [] },
      tags: { request_id: 'abc' },
      extra: {},
    },
    name: 'NoMethodError',
    description: "undefined method 'lay' for nil (NoMethodError)",
    actor: 'WallsController#show',
    level: 'error',
    timestamp: '2026-10-30T10:35:02.000Z',
    inApp: ['WallsController#show'],
    tags: { request_id: 'abc' },
    breadcrumbs: 0,
  },
  {
    client: 'sentry-java 8, without in_app',
    event: {
      event_id: 'e1c2d3e4f5061728394a5b6c7d8e9f00',
      platform: 'java',
      level: 'fatal',
      timestamp: '2026-10-30T10:35:02.001Z',
      logger: 'walls.Main',
      threads: { values: [{ id: 1, name: 'main', crashed: true, current: true }] },
      exception: {
        values: [
          {
            type: 'IllegalStateException',
            value: 'wall is down',
            module: 'java.lang',
            thread_id: 1,
            mechanism: { type: 'UncaughtExceptionHandler', handled: false },
            stacktrace: {
              frames: [
                {
                  module: 'java.lang.Thread',
                  filename: 'Thread.java',
                  function: 'run',
                  lineno: 829,
                  native: false,
                },
                {
                  module: 'org.springframework.web.Servlet',
                  filename: 'Servlet.java',
                  function: 'service',
                  lineno: 1,
                },
                {
                  module: 'example.walls.Wall$$Lambda$14/0x0000000800066840',
                  filename: 'Wall.java',
                  function: 'lambda$lay$0',
                  lineno: 12,
                },
              ],
            },
          },
        ],
      },
    },
    name: 'IllegalStateException',
    description: 'wall is down',
    actor: 'lambda$lay$0 (example.walls.Wall$$Lambda$14/0x0000000800066840)',
    level: 'fatal',
    timestamp: '2026-10-30T10:35:02.001Z',
    inApp: ['lambda$lay$0'],
  },
  {
    client: 'sentry-php 4',
    event: {
      event_id: 'f1c2d3e4f5061728394a5b6c7d8e9f00',
      timestamp: 1793356502.25,
      platform: 'php',
      sdk: { name: 'sentry.php', version: '4.10.0' },
      level: 'error',
      server_name: 'web-1',
      tags: { 'php.sapi': 'fpm' },
      exception: {
        values: [
          {
            type: 'App\\WallException',
            value: 'no mortar',
            stacktrace: {
              frames: [
                {
                  filename: '/vendor/symfony/http-kernel/HttpKernel.php',
                  abs_path: '/srv/vendor/symfony/http-kernel/HttpKernel.php',
                  function: 'App\\Kernel::handle',
                  lineno: 3,
                },
                {
                  filename: '/src/Wall.php',
                  abs_path: '/srv/src/Wall.php',
                  function: 'App\\Wall::lay',
                  lineno: 3,
                  vars: { stones: 3 },
                },
              ],
            },
            mechanism: { type: 'generic', handled: true, data: { code: 0 } },
          },
        ],
      },
    },
    name: 'App\\WallException',
    description: 'no mortar',
    actor: 'App\\Wall::lay (/src/Wall.php)',
    level: 'error',
    timestamp: '2026-10-30T10:35:02.250Z',
    inApp: ['App\\Wall::lay'],
    tags: { 'php.sapi': 'fpm' },
  },
  {
    client: 'sentry-go, a list of exceptions',
    event: {
      event_id: '01c2d3e4f5061728394a5b6c7d8e9f00',
      platform: 'go',
      level: 'error',
      timestamp: '2026-10-30T12:35:02.000000001+02:00',
      exception: [
        { type: '*errors.errorString', value: 'EOF' },
        {
          type: '*walls.LayError',
          value: 'lay: EOF',
          stacktrace: {
            frames: [
              {
                function: 'HandlerFunc.ServeHTTP',
                module: 'net/http',
                abs_path: '/usr/local/go/src/net/http/server.go',
                lineno: 2294,
              },
              {
                function: '(*Wall).Lay',
                module: 'example.com/walls',
                abs_path: '/build/walls.go',
                lineno: 12,
              },
            ],
          },
        },
      ],
      user: {},
      modules: { 'example.com/walls': 'v1.0.0' },
    },
    name: '*walls.LayError',
    description: 'lay: EOF',
    actor: '(*Wall).Lay (example.com/walls)',
    level: 'error',
    timestamp: '2026-10-30T10:35:02.000Z',
    inApp: ['(*Wall).Lay'],
  },
  {
    client: 'Sentry for .NET 5',
    event: {
      event_id: '11c2d3e4-f506-1728-394a-5b6c7d8e9f00',
      timestamp: '2026-10-30T10:35:02.1234567+00:00',
      platform: 'csharp',
      logentry: { message: 'Laying {Course} failed', formatted: 'Laying 3 failed' },
      exception: {
        values: [
          {
            type: 'System.InvalidOperationException',
            value: 'Sequence contains no elements',
            module: 'System.Linq, Version=9.0.0.0',
            stacktrace: {
              frames: [
                {
                  function: 'void Wall.Lay()',
                  module: 'Example.Walls',
                  package: 'Example, Version=1.0.0.0',
                  in_app: true,
                  lineno: 5,
                },
                {
                  function: 'TSource Enumerable.First<TSource>()',
                  module: 'System.Linq.Enumerable',
                  in_app: false,
                },
              ],
            },
          },
        ],
      },
      tags: [
        ['logger', 'Walls'],
        ['empty', null],
      ],
      extra: { password: 'hunter2' },
    },
    name: 'System.InvalidOperationException',
    description: 'Sequence contains no elements',
    actor: 'void Wall.Lay() (Example.Walls)',
    level: 'error',
    timestamp: '2026-10-30T10:35:02.123Z',
    inApp: ['void Wall.Lay()'],
    tags: { logger: 'Walls' },
  },
  {
    client: 'raven-python 3, by interfaces',
    event: {
      event_id: '21c2d3e4f5061728394a5b6c7d8e9f00',
      project: '1',
      platform: 'python',
      level: 40,
      timestamp: '2026-10-30T10:35:02',
      culprit: 'walls.lay in course',
      message: 'ValueError: no stone',
      'sentry.interfaces.Exception': {
        values: [
          {
            type: 'ValueError',
            value: 'no stone',
            module: 'exceptions',
            stacktrace: {
              frames: [
                {
                  filename: 'walls/lay.py',
                  function: 'course',
                  module: 'walls.lay',
                  lineno: '7',
                  in_app: true,
                },
              ],
            },
          },
        ],
      },
      'sentry.interfaces.User': { id: 3, username: 'ada' },
      'sentry.interfaces.Http': { url: 'https://walls.example/', method: 'POST', data: { password: 'x' } },
      tags: [['site', 'north']],
      server_name: 'yard',
    },
    name: 'ValueError',
    description: 'no stone',
    actor: 'walls.lay in course',
    level: 'error',
    timestamp: '2026-10-30T10:35:02.000Z',
    inApp: ['course'],
    tags: { site: 'north' },
    user: '3',
  },
  {
    client: 'raven-js 2, one exception and the stack beside it',
    event: {
      event_id: '31c2d3e4f5061728394a5b6c7d8e9f00',
      project: '1',
      logger: 'javascript',
      platform: 'javascript',
      exception: { type: 'TypeError', value: 'a is undefined' },
      stacktrace: {
        frames: [
          { filename: 'https://walls.example/app.js', lineno: 3, colno: 2, function: 'lay', in_app: true },
        ],
      },
      culprit: 'https://walls.example/app.js',
      message: 'a is undefined',
      timestamp: '1793356502.75',
    },
    name: 'TypeError',
    description: 'a is undefined',
    actor: 'https://walls.example/app.js',
    level: 'error',
    timestamp: '2026-10-30T10:35:02.750Z',
    inApp: ['lay'],
  },
  {
    client: 'sentry-cocoa, a crash whose stack is its thread’s',
    event: {
      event_id: '41c2d3e4f5061728394a5b6c7d8e9f00',
      platform: 'cocoa',
      level: 'fatal',
      timestamp: '2026-10-30T10:35:02.000Z',
      exception: {
        values: [
          {
            type: 'EXC_BAD_ACCESS',
            value: 'KERN_INVALID_ADDRESS at 0x0',
            thread_id: 0,
            mechanism: { type: 'mach', handled: false },
          },
        ],
      },
      threads: {
        values: [
          {
            id: 1,
            stacktrace: {
              frames: [{ function: 'mach_msg_trap', package: '/usr/lib/libsystem_kernel.dylib' }],
            },
          },
          {
            id: 0,
            crashed: true,
            stacktrace: {
              frames: [
                { function: 'main', package: 'Walls', in_app: true },
                { function: '-[Wall lay]', package: 'Walls', in_app: true },
              ],
            },
          },
        ],
      },
    },
    name: 'EXC_BAD_ACCESS',
    description: 'KERN_INVALID_ADDRESS at 0x0',
    actor: '-[Wall lay] (Walls)',
    level: 'fatal',
    timestamp: '2026-10-30T10:35:02.000Z',
    inApp: ['main', '-[Wall lay]'],
  },
  {
    client: 'a message of a logger',
    event: {
      event_id: '51c2d3e4f5061728394a5b6c7d8e9f00',
      platform: 'python',
      level: 'warn',
      timestamp: '2026-10-30T10:35:02.000000Z',
      logger: 'walls',
      logentry: {
        message: 'wall %s is down since %s',
        params: ['north', 12],
        formatted: 'wall north is down since 12',
      },
    },
    name: 'wall north is down since 12',
    description: 'wall north is down since 12',
    actor: '',
    level: 'warning',
    timestamp: '2026-10-30T10:35:02.000Z',
    inApp: [],
  },
  {
    client: 'captureMessage with the stack of its caller',
    event: {
      event_id: '61c2d3e4f5061728394a5b6c7d8e9f00',
      platform: 'javascript',
      level: 'info',
      timestamp: 1793356502,
      message: 'first line\nsecond line',
      stacktrace: { frames: [{ filename: 'app.js', function: 'say', in_app: true }] },
    },
    name: 'first line',
    description: 'first line\nsecond line',
    actor: 'say (app.js)',
    level: 'info',
    timestamp: '2026-10-30T10:35:02.000Z',
    inApp: ['say'],
  },
  {
    client: 'a program of somebody’s own, who read the documentation quickly',
    event: {
      message: { message: 'wall %s fell', params: ['a'] },
      tags: [{ key: 'k', value: 1 }],
      exception: null,
      breadcrumbs: {},
      user: 'ada',
      request: 'GET /',
      contexts: [],
      modules: [['a', '1']],
      fingerprint: 'x',
    },
    name: 'wall a fell',
    description: 'wall a fell',
    actor: '',
    level: 'error',
    timestamp: '2026-10-30T10:40:00.000Z',
    inApp: [],
    tags: { k: '1' },
  },
];
