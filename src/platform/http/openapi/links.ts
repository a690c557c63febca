/** Links of an OpenAPI document: from a POST to the operations that read, change and delete its record. */
import type { TSchema } from 'typebox';
import type { Operation } from './operation.ts';
import type { SchemaObject } from './schemas.ts';

/** Finds the links of an operation. `nameOf` gives an operation's id. */
export function createLinks(
  operations: readonly Operation[],
  nameOf: (operation: Operation) => string,
): (source: Operation) => Record<string, SchemaObject> {
  const byShape = new Map<string, Operation[]>();
  for (const operation of operations) {
    if (operation.method === 'POST') continue;
    const shape = shapeOf(operation.path);
    byShape.set(shape, [...(byShape.get(shape) ?? []), operation]);
  }
  return (source) => {
    if (source.method !== 'POST') return {};
    // The new record is below the path, or at it where the client chose the name.
    const targets = [`${source.path}/:it`, source.path].flatMap((path) => byShape.get(shapeOf(path)) ?? []);
    return Object.fromEntries(
      targets.flatMap((target) => {
        const parameters = parametersFor(source, target);
        return parameters ? [[nameOf(target), { operationId: nameOf(target), parameters }]] : [];
      }),
    );
  };
}

const shapeOf = (path: string): string => path.replaceAll(/:\w+/g, ':');

const namesIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

/** The last parameter names the record; those before it are parameters of the request. */
function parametersFor(source: Operation, target: Operation): Record<string, string> | undefined {
  if (!/:\w+$/.test(target.path)) return undefined;
  const given = namesIn(source.path);
  const wanted = namesIn(target.path);
  const last = wanted.at(-1) ?? '';
  const property = propertyNaming(last, source.reply.schema);
  const isAsked = source.input.required?.includes(last) && !given.includes(last);
  if (property === undefined && !isAsked) return undefined;
  const before = wanted.slice(0, -1).map((name, at) => [name, `$request.path.${given[at]}`]);
  // A parameter of the same name in the request comes before the record's id.
  const named = isAsked && property !== last ? `$request.body#/${last}` : `$response.body#/${property}`;
  return { ...Object.fromEntries(before), [last]: named };
}

/**
 * `issue_iid` is the record's `iid`, `tag_name` its `name`, others its `id`, unless it has a property of that
 * name.
 */
function propertyNaming(name: string, reply: TSchema): string | undefined {
  const { properties, anyOf } = reply as { properties?: object; anyOf?: TSchema[] }; // JSON Schema objects
  if (anyOf?.[0]) return propertyNaming(name, anyOf[0]);
  const ending = /(?:^|_)(iid|id)$/.exec(name)?.[1] ?? 'name';
  return [name, ending, 'id'].find((each) => properties !== undefined && each in properties);
}
