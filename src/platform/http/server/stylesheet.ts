/** The one stylesheet of the server's own pages; light or dark as the reader's system is. */
import type { HttpResponse } from '../messages.ts';
import { adminStyle } from './admin-style.ts';
import { messageStyle } from './message-style.ts';
import { readingStyle } from './reading-style.ts';
import type { Route } from './server.ts';

const css = `:root {
  color-scheme: light dark;
  --ink: light-dark(#1d2430, #e7eaf0);
  --quiet: light-dark(#566072, #a3adbd);
  --paper: light-dark(#f4f5f7, #14181f);
  --card: light-dark(#ffffff, #1d232c);
  --line: light-dark(#d5dae2, #363f4d);
  --accent: light-dark(#1f5fbf, #8ab8ff);
  --on-accent: light-dark(#ffffff, #0d1a2d);
  --bad: light-dark(#a3261b, #ff9c92);
  --bad-paper: light-dark(#fdeceb, #3a1f1f);
  --note: light-dark(#6b4e00, #f0cd7a);
  --note-paper: light-dark(#fdf4dc, #332b17);
}
* { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--paper);
  color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
body > header {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem 1.25rem;
  padding: 0.75rem clamp(0.75rem, 4vw, 1.5rem);
  background: var(--card);
  border-bottom: 1px solid var(--line);
}
body > header .brand { font-weight: 700; margin-right: auto; color: var(--ink); text-decoration: none; }
body > header form { margin: 0; }
body > header > a { max-width: min(14rem, 30vw); overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
main { max-width: 60rem; margin: clamp(1rem, 5vw, 2.5rem) auto; padding: 0 clamp(0.75rem, 4vw, 1.5rem); }
main > .card { max-width: 27rem; margin: 0 auto; padding: clamp(1.1rem, 5vw, 1.75rem); background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem; }
main > .card.wide { max-width: 46rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2rem 0 0.75rem; font-size: 1.15rem; }
p, ul, ol { margin: 0 0 1rem; }
ul, ol { padding-left: 1.4rem; }
a { color: var(--accent); }
form { margin: 0; }
label { display: block; margin-bottom: 0.25rem; font-weight: 600; }
.field { margin-bottom: 1.1rem; }
.hint { margin: 0.4rem 0 0; color: var(--quiet); font-size: 0.9rem; }
input, select, textarea {
  width: 100%;
  padding: 0.55rem 0.7rem;
  border: 1px solid var(--quiet);
  border-radius: 0.35rem;
  background: var(--card);
  color: inherit;
  font: inherit;
}
[aria-invalid='true'] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
button {
  padding: 0.55rem 1.1rem;
  border: 1px solid var(--accent);
  border-radius: 0.35rem;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button.plain { padding: 0; border: 0; background: none; color: var(--accent); font-weight: 400; text-decoration: underline; }
.card form button { width: 100%; }
.card.wide form button { width: auto; }
.wide summary { padding: 0.35rem 0; }
#secret { word-break: break-all; }
button.danger { border-color: var(--bad); background: none; color: var(--bad); }
textarea { display: block; resize: vertical; }
fieldset { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 0 1.5rem; margin: 0 0 1.1rem; padding: 1rem 1rem 0; border: 1px solid var(--line); border-radius: 0.35rem; }
legend { padding: 0 0.4rem; font-weight: 600; }
.choice { display: grid; align-content: start; grid-template-columns: auto 1fr; gap: 0 0.6rem; margin-bottom: 1rem; }
.choice input { width: 1.15rem; height: 1.15rem; margin: 0.2rem 0 0; accent-color: var(--accent); }
.choice label { margin: 0; }
.choice .hint { grid-column: 2; margin: 0; }
.rows { padding: 0; list-style: none; }
.rows li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1rem; padding: 0.7rem 0; border-top: 1px solid var(--line); }
.rows li > :first-child { flex: 1 1 16rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; }
dt { font-weight: 600; }
dd { margin: 0 0 0.3rem; }
dd + dt { margin-top: 0.8rem; }
.card > :last-child { margin-bottom: 0; }
.card li { margin-bottom: 0.4rem; }
.card details { padding: 0; border: 0; }
form > details { margin-bottom: 1.1rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.message, .note { margin: 0 0 1.1rem; padding: 0.7rem 0.9rem; border-radius: 0.35rem; border-left: 4px solid; }
.message { color: var(--bad); background: var(--bad-paper); }
.note { color: var(--note); background: var(--note-paper); }
.message ul { margin: 0; padding-left: 1.1rem; }
.aside { margin: 1.25rem 0 0; text-align: center; color: var(--quiet); }
.key { margin: 0.4rem 0; padding: 0.6rem 0.8rem; border: 1px solid var(--line); border-radius: 0.35rem; background: var(--paper); }
code, .codes { font-family: ui-monospace, monospace; font-size: 0.95em; }
.codes { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: 0.4rem; padding: 0; list-style: none; }
.qr { display: block; width: min(100%, 13rem); margin: 0.8rem 0; border: 1px solid var(--line); border-radius: 0.35rem; forced-color-adjust: none; }
.tag { padding: 0.1rem 0.5rem; border-radius: 1rem; background: var(--note-paper); color: var(--note); font-size: 0.85rem; white-space: nowrap; }
.inline { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; padding: 0; list-style: none; }
details { padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
summary { cursor: pointer; }
details > p { margin: 0.6rem 0; color: var(--quiet); }
table { width: 100%; margin-bottom: 0.75rem; border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.3rem 0.75rem 0.3rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
th, .wide td + td { overflow-wrap: normal; }
time, strong code { white-space: nowrap; }
`;

const response: HttpResponse = {
  status: 200,
  headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=3600' },
  body: css + readingStyle + messageStyle + adminStyle,
  sameForAll: true,
};

/** Serves the stylesheet at /-/style.css. */
export const stylesheetRoute: Route = {
  kind: 'static',
  method: 'GET',
  path: '/-/style.css',
  handle: async () => response,
};
