/** Stack frames of all platforms as one shape, and which of them are the application's own. */
import { type Cleaner, isRecord } from './cleaner.ts';
import type { Frame } from './shape.ts';

/** A longer stack keeps its beginning and its end. */
const FIRST_FRAMES = 50;
const LAST_FRAMES = 200;
const CONTEXT_LINES = 10;
const MAX_NAME_LENGTH = 512;

export type Stack = { frames: Frame[]; frames_omitted: number };

/** Paths of code that is not the application's. */
const FOREIGN_PATHS =
  /(?:^|\/)(?:node_modules|site-packages|dist-packages|vendor|gems|bower_components|\.cargo|\.rustup|go\/pkg\/mod)\/|^(?:node:|internal\/|\[?native|\/?usr\/(?:local\/)?lib\/|<frozen |<internal:|webpack\/(?:bootstrap|runtime)|chrome-extension:|moz-extension:|safari-(?:web-)?extension:)|\/(?:lib|lib64)\/(?:python|ruby)[\d.]*\/|\/rustc\/|\/usr\/local\/go\/src\//;

/** The same by module name, for platforms without paths. */
const FOREIGN_MODULES: Readonly<Record<string, RegExp>> = {
  java: /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|android|androidx|com\.android|org\.springframework|org\.apache|org\.hibernate|org\.eclipse|io\.netty|io\.sentry|reactor|junit)\b/,
  csharp: /^(?:System|Microsoft|MS|Newtonsoft|Sentry|FSharp|NUnit|Xunit)(?:\.|$)/,
  go: /^(?:runtime|net|net\/\w+|database\/sql|encoding\/\w+|reflect|testing|sync|os|io|fmt|github\.com\/getsentry\/sentry-go)(?:\.|$)/,
};

function guessInApp(frame: Pick<Frame, 'filename' | 'abs_path' | 'module'>, platform: string): boolean {
  const path = (frame.abs_path ?? frame.filename ?? '').replaceAll('\\', '/');
  if (FOREIGN_PATHS.test(path) || (frame.filename !== null && FOREIGN_PATHS.test(frame.filename)))
    return false;
  return !(frame.module !== null && FOREIGN_MODULES[platform]?.test(frame.module));
}

const lineNumber = (value: unknown): number | null => {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
};

function contextLines(cleaner: Cleaner, value: unknown, side: 'before' | 'after'): string[] {
  if (!Array.isArray(value)) return [];
  const near = side === 'before' ? value.slice(-CONTEXT_LINES) : value.slice(0, CONTEXT_LINES);
  return near.map((line) => cleaner.source(line) ?? '');
}

/** A frame without its surroundings, and the raw frame that has them. */
export type BareFrame = { frame: Frame; raw: Record<string, unknown> };

const bare = { pre_context: [], context_line: null, post_context: [], vars: null };

function toFrame(raw: Record<string, unknown>, cleaner: Cleaner, platform: string): Frame {
  const named = {
    module: cleaner.text(raw.module, MAX_NAME_LENGTH) ?? cleaner.text(raw.package, MAX_NAME_LENGTH),
    filename: cleaner.text(raw.filename, MAX_NAME_LENGTH),
    abs_path: raw.abs_path === raw.filename ? null : cleaner.text(raw.abs_path, MAX_NAME_LENGTH),
  };
  return {
    function: cleaner.text(raw.function, MAX_NAME_LENGTH),
    ...named,
    lineno: lineNumber(raw.lineno),
    colno: lineNumber(raw.colno),
    in_app: typeof raw.in_app === 'boolean' ? raw.in_app : guessInApp(named, platform),
    ...bare,
  };
}

/** Gives a frame its lines of source and its variables. */
export function surround({ frame, raw }: BareFrame, cleaner: Cleaner): void {
  Object.assign(frame, {
    pre_context: contextLines(cleaner, raw.pre_context, 'before'),
    context_line: cleaner.source(raw.context_line),
    post_context: contextLines(cleaner, raw.post_context, 'after'),
    vars: cleaner.object(raw.vars),
  });
}

/** The frames of `{ frames: […] }`, the oldest call first; each is added to the bare ones, the innermost first. */
export function readStack(raw: unknown, cleaner: Cleaner, platform: string, bareFrames: BareFrame[]): Stack {
  const all = (isRecord(raw) && Array.isArray(raw.frames) ? raw.frames : []).filter(isRecord);
  const kept =
    all.length <= FIRST_FRAMES + LAST_FRAMES
      ? all
      : [...all.slice(0, FIRST_FRAMES), ...all.slice(-LAST_FRAMES)];
  const frames: Frame[] = [];
  // Where the budget is small, the outermost frames are dropped.
  for (const each of kept.toReversed()) {
    if (cleaner.isFull()) break;
    const frame = toFrame(each, cleaner, platform);
    frames.push(frame);
    bareFrames.push({ frame, raw: each });
  }
  return { frames: frames.reverse(), frames_omitted: all.length - frames.length };
}
