/** The stack of an event: the exceptions, the calls that led there, and the lines of code around each. */
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { oneLine, tag } from '../view/components.ts';

type Frame = {
  function: string | null;
  module: string | null;
  filename: string | null;
  abs_path: string | null;
  lineno: number | null;
  colno: number | null;
  in_app: boolean;
  pre_context: readonly string[];
  context_line: string | null;
  post_context: readonly string[];
};
type Calls = { frames: readonly Frame[]; frames_omitted: number };
type Thrown = Calls & { type: string | null; value: string | null; handled: boolean | null };

/** The exceptions, the first cause first; or the calls of a message without one. */
export type StackTrace = Calls & { exceptions: readonly Thrown[] };

/** Frames of all exceptions: each takes some hundred bytes, and more with its lines. */
const MAX_FRAMES = 300;

function codeOf(frame: Frame): Html | undefined {
  if (frame.context_line === null) return undefined;
  const lines = [...frame.pre_context, frame.context_line, ...frame.post_context];
  const first = frame.lineno === null ? undefined : frame.lineno - frame.pre_context.length;
  const rows = lines.map((line, at) => {
    const number = first === undefined ? '' : first + at;
    const here = at === frame.pre_context.length;
    return html`<tr${here && html` class="here"`}><td class="number">${number}</td><td><code>${oneLine(line)}</code></td></tr>`;
  });
  return html`<div class="code"><table>${rows}</table></div>`;
}

/** A frame's call, and its line in its file. */
function titleOf(frame: Frame): Html {
  const file = frame.filename ?? frame.abs_path ?? frame.module;
  const place = [frame.lineno, frame.colno].flatMap((part) => (part === null ? [] : `:${part}`)).join('');
  return html`<code>${oneLine(frame.function ?? '(anonymous)')}</code>${
    file !== null && html` <span class="below">in ${oneLine(file)}${place}</span>`
  }`;
}

/** A frame that opens to its lines; open from the start for the application's own. */
function frameView(frame: Frame): Html {
  const code = codeOf(frame);
  const mark = !frame.in_app && tag('Library');
  return code
    ? html`<details class="frame"${frame.in_app && html` open`}><summary>${titleOf(frame)} ${mark}</summary>${code}</details>`
    : html`<p class="frame">${titleOf(frame)} ${mark}</p>`;
}

/** The calls, the innermost first, within the limit on frames. */
function callsView({ frames, frames_omitted }: Calls, room: { frames: number }): Html {
  const shown = frames.toReversed().slice(0, room.frames);
  room.frames -= shown.length;
  const left = frames.length - shown.length + frames_omitted;
  return html`${shown.map(frameView)}${
    left > 0 && html`<p class="none">${left} more calls are not shown here.</p>`
  }`;
}

/** All exceptions, the one that the application met first, each followed by its cause. */
export function stackView(event: StackTrace): Html {
  const room = { frames: MAX_FRAMES };
  const thrown = event.exceptions
    .toReversed()
    .map(
      (each, at) =>
        html`<section class="file"><h3>${at > 0 && 'Caused by '}${oneLine(each.type ?? 'Error')}${
          each.value !== null && each.value !== '' && html`: ${oneLine(each.value)}`
        } ${each.handled === false && tag('Not caught', 'urgent')}</h3>${callsView(each, room)}</section>`,
    );
  const calls =
    event.frames.length > 0 && html`<section class="file"><h3>Calls</h3>${callsView(event, room)}</section>`;
  return html`${thrown}${calls}`;
}
