/** Bodies by a hook's own template (facts-merge-requests: 10.4). Pure. */

const placeholder = /\{\{\s*([A-Za-z0-9_.]+)\s*\}\}/g;

/** A template that makes no body of this event. */
export class TemplateProblem extends Error {}

function valueAt(payload: unknown, path: string): unknown {
  let value = payload;
  for (const name of path.split('.')) {
    if (Array.isArray(value))
      throw new TemplateProblem('You may be trying to access an array value, which is not supported.');
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** As it stands in JSON; a text without its quotes, since the template has them. */
function written(value: unknown): string {
  const json = JSON.stringify(value ?? null);
  return typeof value === 'string' ? json.slice(1, -1) : json;
}

/** The body; fails with a TemplateProblem where it is no JSON, or longer than that. */
export function renderTemplate(template: string, payload: unknown, maxLength: number): string {
  let left = maxLength;
  const body = template.replace(placeholder, (_, path: string) => {
    const text = written(valueAt(payload, path));
    left -= text.length;
    if (left < 0) throw new TemplateProblem('the body is too long');
    return text;
  });
  try {
    JSON.parse(body);
  } catch (error) {
    throw new TemplateProblem((error as Error).message);
  }
  return body;
}
