/**
 * Groups events into errors by a fingerprint, and names the errors. The first rule that applies counts:
 *
 * 1. The `fingerprint` that the client sends; `{{ default }}` in it stands for the rules below.
 * 2. The types of the exceptions, causes and all, each with its frames of the application: the module, or else the file,
 *    and the function. Lines, columns, versions in file names and repeated calls do not count, so that an error stays the
 *    same when the code around it moves.
 * 3. The same with all frames, where none is the application's.
 * 4. Without frames, the types and messages, where numbers, addresses and identifiers count as alike.
 * 5. For messages their template, masked in the same way.
 * 6. The frames of a thread that crashed without an exception.
 */
import { digest } from '../../../platform/secret.ts';
import type { Frame, NormalEvent } from './shape.ts';

const DEFAULT = /^\s*\{\{\s*default\s*\}\}\s*$/i;

/** Characters of a text that are compared. */
const COMPARED = 1_000;

/** Replaces all that varies between occurrences by one sign. */
export const maskVarying = (text: string): string =>
  text
    .slice(0, COMPARED)
    .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/gi, '#')
    .replace(/0x[\da-f]+/gi, '#')
    .replace(/(?<![a-z\d])(?=[a-f]*\d)[\da-f]{8,}(?![a-z\d])/gi, '#')
    .replace(/\d+(?:[.,:]\d+)*/g, '#');

/** The file without directory of a release, version and bundler's hash. */
const bareFile = (name: string): string =>
  name
    .replace(/[?#].*$/s, '')
    .replace(/^\w[\w+.-]*:\/\/[^/]*/, '')
    .replaceAll('\\', '/')
    .replace(/\/(?:releases|versions)\/[^/]+\//g, '/')
    .replace(/(?<=[.\-_])(?=[\w]*\d)[\da-zA-Z]{7,64}(?=[.\-_])/g, '#')
    .replace(/\d{5,}/g, '#');

/** The function without numbers that compilers add. */
const bareFunction = (name: string): string =>
  name
    .replace(/0x[\da-f]+/gi, '#')
    .replace(/(\$|__)\d+(?:_\d+)*/g, '$1#')
    .replace(/\d{5,}/g, '#');

const locationOf = (frame: Frame): string =>
  `${frame.module === null ? bareFile(frame.filename ?? frame.abs_path ?? '') : bareFunction(frame.module)} ${bareFunction(frame.function ?? '')}`;

function locationsOf(frames: readonly Frame[]): string[] {
  const places: string[] = [];
  for (const frame of frames) {
    const place = locationOf(frame);
    // Recursion counts once, however deep it is.
    if (place !== ' ' && place !== places.at(-1)) places.push(place);
  }
  return places;
}

function exceptionParts(event: NormalEvent, counts: (frame: Frame) => boolean): string[] | undefined {
  const found = event.exceptions.map(({ type, frames }) => ({
    type,
    places: locationsOf(frames.filter(counts)),
  }));
  if (found.every(({ places }) => places.length === 0)) return undefined;
  return found.flatMap(({ type, places }) => ['exception', type ?? '', ...places]);
}

function defaultParts(event: NormalEvent): string[] {
  if (event.exceptions.length > 0)
    return (
      exceptionParts(event, (frame) => frame.in_app) ??
      exceptionParts(event, () => true) ??
      event.exceptions.flatMap(({ type, value }) => ['thrown', type ?? '', maskVarying(value ?? '')])
    );
  const said = event.message_template ?? event.message;
  if (said !== null) return ['message', maskVarying(said)];
  return ['frames', ...locationsOf(event.frames)];
}

/** 32 bytes, the same for all events of an error. */
export function fingerprintOf(event: NormalEvent): Buffer {
  const given = event.fingerprint;
  const parts =
    given.length === 0
      ? defaultParts(event)
      : given.flatMap((part) => (DEFAULT.test(part) ? defaultParts(event) : [part]));
  return digest(JSON.stringify(parts));
}

export type Title = {
  /** The type of the exception, or the first line of the message. */
  name: string;
  /** The message of the exception, or of the event. */
  description: string;
  /** Where it happened: the transaction, or the innermost frame of the application. */
  actor: string;
};

const MAX_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 2_000;

const cut = (text: string, longest: number): string => text.slice(0, longest).toWellFormed();

const firstLine = (text: string): string => text.trim().split(/[\r\n]/, 1)[0] ?? '';

function innermost(frames: readonly Frame[]): string {
  const frame = frames.findLast(({ in_app }) => in_app) ?? frames.at(-1);
  if (!frame) return '';
  const place = frame.module ?? frame.filename ?? frame.abs_path ?? '';
  return frame.function === null ? place : place === '' ? frame.function : `${frame.function} (${place})`;
}

/** The title of the event's error in lists. */
export function titleOf(event: NormalEvent): Title {
  const thrown = event.exceptions.at(-1);
  const said = (thrown ? thrown.value : event.message) ?? '';
  return {
    name: cut(thrown?.type ?? firstLine(said), MAX_NAME_LENGTH) || 'Unknown error',
    description: cut(said, MAX_DESCRIPTION_LENGTH),
    actor: cut(event.transaction ?? innermost(thrown?.frames ?? event.frames), MAX_NAME_LENGTH),
  };
}
