import { expect, test } from 'vitest';
import { traceText } from './trace-text.ts';

test.each([
  ['plain\ntext\n', 'plain\ntext\n'],
  ['\x1b[32;1mgreen\x1b[0m\x1b[0K;\n', 'green;\n'],
  ['section_start:1560896352:my_section[collapsed=true]\r\x1b[0KHeader\n', 'Header\n'],
  ['section_end:1560896353:my_section\r\x1b[0K\n', '\n'],
  ['10 %\r50 %\r100 %\nend\r\n', '100 %\nend\n'],
  ['\r\r\r\n\rx\n', '\nx\n'],
  ['<script>\x1b]0;title\x07', '<script>\x1b]0;title\x07'],
])('%j is shown as %j', (trace, text) => expect(traceText(trace)).toBe(text));
