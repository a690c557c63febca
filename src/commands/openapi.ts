/** ashlar openapi: the description of the API, read off the endpoints; no database is asked. */
import { createApp } from '../app.ts';
import { describeApi } from '../kernel/api/openapi.ts';
import type { Capability } from '../kernel/capability.ts';
import { readConfig } from '../kernel/config.ts';
import { version } from '../package.ts';
import { createLog } from '../platform/log.ts';

/** The capabilities as every machine has them: settings of this one do not show in them. */
export function describedCapabilities(): readonly Capability[] {
  const app = createApp({
    config: readConfig({}),
    // Pools open with their first statement, and there is none.
    target: 'postgres://nobody@127.0.0.1:1/none',
    secretKey: '',
    log: createLog(() => {}),
  });
  void app.stop();
  return app.capabilities;
}

/** The document as JSON text. */
export const openApiText = (): string => print(describeApi(describedCapabilities(), version.api));

/** JSON with what is short on one line: a change of the API shows in review as few lines that say something. */
function print(value: unknown, indent = ''): string {
  const text = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + text.length <= 110) return text;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const items = Array.isArray(value)
    ? value.map((item) => print(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${print(item, inner)}`);
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`;
}
