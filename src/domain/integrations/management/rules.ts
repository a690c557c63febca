/** Rules of what requests say of an integration. Pure. */
import { invalid, type ValidationMessages } from '../../../platform/failure.ts';
import { missingAt, parameterFailure } from '../../../platform/http/parameters/problems.ts';
import { isWebAddress } from '../../../platform/http/web-address.ts';
import type { OutboundRules } from '../../../platform/outbound/addresses.ts';
import { MAX_SIZE_IN_TEXTS, type PatternCompiler } from '../../../platform/patterns/pattern.ts';
import { isReachable } from '../../hooks/index.ts';
import { type Description, type Properties, textOf } from '../kinds/description.ts';

const isGoodAddress = (text: string): boolean => {
  const url = URL.parse(text);
  // Credentials in an address would be shown by the services that show it.
  return !/[\s\p{Cc}]/u.test(text) && isWebAddress(text) && url?.username === '' && url.password === '';
};

/** 400 that names the fields which each PUT has and this one has not. */
export function requireGiven({ fields }: Description, changes: Properties): void {
  const missing = Object.entries(fields).filter(([name, { required }]) => required && changes[name] == null);
  if (missing.length > 0) throw parameterFailure(new Set(missing.map(([name]) => missingAt([name]))));
}

/** 400 for values that no request could be made of, or that name no issues, with messages by field; `compile` is of patterns. */
export function requireGood(
  { fields, trackerNames }: Description,
  properties: Properties,
  rules: OutboundRules,
  compile: PatternCompiler,
): void {
  const messages: ValidationMessages = {};
  for (const [name, { required, address }] of Object.entries(fields)) {
    const value = textOf(properties, name);
    if (value.trim() === '') {
      if (required) messages[name] = ["can't be blank"];
    } else if (address && !isGoodAddress(value)) messages[name] = ['must be a valid URL'];
    else if (address === 'called' && !isReachable(value, rules))
      messages[name] = ['is blocked: Requests to the local network are not allowed'];
  }
  const names = trackerNames?.pattern(properties);
  const compiled = names === undefined ? undefined : compile(names, MAX_SIZE_IN_TEXTS);
  if (compiled && 'problem' in compiled)
    for (const field of trackerNames?.fields ?? [])
      if (textOf(properties, field) !== '') messages[field] = [compiled.problem];
  if (Object.keys(messages).length > 0) throw invalid(messages);
}

/** The values after a change: what the request does not name stays, and what it empties goes. */
export function propertiesAfter(
  { fields }: Description,
  before: Properties,
  changes: Properties,
): Properties {
  const after = Object.keys(fields).map(
    (name) => [name, name in changes ? changes[name] : before[name]] as const,
  );
  return Object.fromEntries(after.filter(([, value]) => value != null && value !== '')) as Properties;
}
