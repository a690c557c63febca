/** Lines of files and of changes, with their numbers. */
import { type Html, html } from '../../../platform/http/pages/html.ts';

/** Lines of a file, or of all changes of a page, that are shown: each takes a hundred bytes, however short it is. */
const MAX_LINES = 10_000;

/** A text with numbered lines, each an anchor: `#L12`; of very many, the first. */
export function codeLines(text: string): Html {
  const lines = text.replace(/\r\n/g, '\n').replace(/\n$/, '').split('\n');
  const left = lines.length - MAX_LINES;
  return html`<div class="code"><table>${lines
    .slice(0, MAX_LINES)
    .map(
      (line, index) =>
        html`<tr id="L${index + 1}"><td class="number"><a href="#L${index + 1}">${index + 1}</a></td><td><code>${line}</code></td></tr>`,
    )}</table></div>
${left > 0 && html`<p class="none">${left} more lines are not shown here.</p>`}`;
}

type FileDiff = {
  diff: string;
  collapsed: boolean;
  too_large: boolean;
  new_path: string;
  old_path: string;
  new_file: boolean;
  renamed_file: boolean;
  deleted_file: boolean;
};

const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

const kinds: Record<string, string> = { '+': 'added', '-': 'removed' };

/** The lines of one file's change; old and new numbers before each. */
function diffLines(lines: readonly string[]): Html[] {
  let [left, right] = [0, 0];
  return lines.map((line) => {
    const [, from, to] = hunk.exec(line) ?? [];
    if (from !== undefined) {
      [left, right] = [Number(from), Number(to)];
      return html`<tr class="hunk"><td colspan="2"></td><td><code>${line}</code></td></tr>`;
    }
    const sign = line[0] ?? ' ';
    if (sign === '\\') return html`<tr class="hunk"><td colspan="2"></td><td><code>${line}</code></td></tr>`;
    const old = sign === '+' ? '' : left++;
    const fresh = sign === '-' ? '' : right++;
    return html`<tr class="${kinds[sign] ?? 'kept'}"><td class="number">${old}</td><td class="number">${fresh}</td><td><code>${line}</code></td></tr>`;
  });
}

function pathOf({ new_path, old_path, new_file, renamed_file, deleted_file }: FileDiff): Html {
  if (new_file) return html`${new_path} <span class="below">new</span>`;
  if (deleted_file) return html`${old_path} <span class="below">deleted</span>`;
  return renamed_file ? html`${old_path} → ${new_path}` : html`${new_path}`;
}

const NOT_SHOWN = html`<p class="none">Too large to be shown.</p>`;

function bodyOf({ diff, collapsed, too_large }: FileDiff, room: { lines: number }): Html {
  if (diff === '') return too_large || collapsed ? NOT_SHOWN : html`<p class="none">No lines changed.</p>`;
  const lines = diff.replace(/\n$/, '').split('\n');
  if (lines.length > room.lines) return NOT_SHOWN;
  room.lines -= lines.length;
  return html`<div class="code"><table>${diffLines(lines)}</table></div>`;
}

/** Changes, file by file; of files whose lines would be too many for one page, the names alone. */
export function diffView(files: readonly FileDiff[]): Html {
  if (files.length === 0) return html`<p class="none">No files changed.</p>`;
  const room = { lines: MAX_LINES };
  return html`${files.map(
    (file) => html`<section class="file"><h3>${pathOf(file)}</h3>${bodyOf(file, room)}</section>`,
  )}`;
}
