/** Styles of pages for reading: projects, files, issues and notes. */
export const readingStyle = `.crumbs { display: flex; flex-wrap: wrap; align-items: center; gap: 0.15rem 0.5rem; margin-bottom: 0.75rem; font-weight: 600; }
.crumbs a { text-decoration: none; }
.tabs { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin-bottom: 1rem; border-bottom: 1px solid var(--line); }
.tabs a { flex: none; padding: 0.45rem 0.1rem; border-bottom: 3px solid transparent; color: var(--quiet); text-decoration: none; }
.tabs a:hover { color: var(--ink); }
.tabs a[aria-current] { border-color: var(--accent); color: var(--ink); font-weight: 600; }
.page { padding: clamp(1rem, 4vw, 1.75rem); background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem; }
.page > :last-child { margin-bottom: 0; }
.page h1 { margin-bottom: 0.5rem; }
.page .tabs { margin-top: -0.25rem; }
.below, .none, .when { color: var(--quiet); font-size: 0.9rem; font-weight: 400; }
.when { text-decoration: none; }
.when:hover { text-decoration: underline; }
.tag { display: inline-block; font-weight: 400; }
.tag.quiet { background: var(--paper); color: var(--quiet); box-shadow: inset 0 0 0 1px var(--line); }
.tag.urgent { background: light-dark(#fbdad6, #571f1b); color: light-dark(#8a1c12, #ffc9c3); font-weight: 600; }
.tag.warning { background: light-dark(#fcefcb, #3d3111); color: light-dark(#6b4600, #f0d08a); }
.tag.open { background: light-dark(#e3f4e8, #173423); color: light-dark(#17603a, #8fdcab); }
.tag.closed { background: light-dark(#ece9f7, #2b2740); color: light-dark(#4b3a8c, #c4b8f5); }
.label { display: inline-flex; align-items: center; gap: 0.35rem; margin-right: 0.35rem; padding: 0 0.5rem; border: 1px solid var(--line); border-radius: 1rem; color: inherit; font-size: 0.85rem; text-decoration: none; }
a.label:hover { border-color: var(--quiet); }
.dot { flex: none; width: 0.7rem; height: 0.7rem; }
.gl-label .dot { margin-right: 0.3rem; }
.who { display: flex; align-items: center; gap: 1rem; margin-bottom: 1rem; }
.who h1, .who p { margin: 0; }
.avatar { display: inline-grid; flex: none; place-items: center; width: 2.25rem; height: 2.25rem; border: 1px solid var(--line); border-radius: 0.4rem; background: var(--paper); color: var(--quiet); font-weight: 600; text-transform: uppercase; object-fit: cover; }
.who .avatar { width: 3.5rem; height: 3.5rem; font-size: 1.5rem; }
.note .avatar { width: 1.75rem; height: 1.75rem; font-size: 0.85rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); gap: 0.75rem 1.5rem; margin: 1rem 0 1.25rem; padding: 1rem 0; border: solid var(--line); border-width: 1px 0; }
.facts:not(:has(*)) { display: none; }
.facts div:has(.whole) { grid-column: 1 / -1; }
.facts dt { color: var(--quiet); font-size: 0.85rem; font-weight: 400; }
.facts dd { margin: 0; }
.facts time { white-space: normal; }
.things, .entries { margin: 0 0 1rem; padding: 0; list-style: none; }
.things > li { display: flex; align-items: center; gap: 0.85rem; padding: 0.7rem 0; border-top: 1px solid var(--line); }
.things > li > :not(.avatar, .beside) { flex: 1 1 auto; min-width: 0; }
.things > li:first-child, .entries > li:first-child { border-top: 0; }
.what > a:first-child { font-weight: 600; text-decoration: none; }
.what > a:first-child:hover { text-decoration: underline; }
.beside { flex: none; max-width: 40%; color: var(--quiet); font-size: 0.9rem; text-align: right; }
.entries > li { padding: 0.4rem 0; border-top: 1px solid var(--line); }
.entries a { text-decoration: none; }
.page h1.trail { margin-bottom: 0.75rem; font-size: 1.05rem; font-weight: 400; }
.pager { display: flex; justify-content: center; gap: 1.25rem; margin-top: 1rem; }
.page > .actions { margin-bottom: 0.75rem; }
.file { margin: 1rem 0; border: 1px solid var(--line); border-radius: 0.35rem; overflow: hidden; }
.file > h2, .file > h3 { margin: 0; padding: 0.5rem 0.9rem; border-bottom: 1px solid var(--line); background: var(--paper); font-size: 0.95rem; }
.file > .prose, .file > .none { margin: 0; padding: 0.9rem; }
.picture { margin: 0; padding: 0.9rem; text-align: center; }
.picture img { max-width: 100%; }
.file > .listing { margin: 0; border: 0; }
.code { overflow-x: auto; }
.code table { width: auto; min-width: 100%; margin: 0; font-size: 0.85rem; line-height: 1.45; }
.code td { padding: 0 0.75rem; border: 0; }
.code td code { overflow-wrap: normal; white-space: pre; }
.code .number { width: 1%; padding: 0 0.6rem; border-right: 1px solid var(--line); color: var(--quiet); font-family: ui-monospace, monospace; text-align: right; overflow-wrap: normal; white-space: nowrap; user-select: none; }
.code .number a { color: inherit; text-decoration: none; }
.code tr:target td { background: var(--note-paper); }
.code .here td { background: var(--note-paper); }
.frame { margin: 0; padding: 0.4rem 0.9rem; border: solid var(--line); border-width: 1px 0 0; }
h3 + .frame { border-top: 0; }
.frame > .code { margin: 0.4rem -0.9rem; }
.plot { margin: 0 0 1rem; }
.plot svg { display: block; width: 100%; height: 7rem; border-bottom: 1px solid var(--quiet); fill: var(--accent); stroke: var(--accent); }
.plot rect { vector-effect: non-scaling-stroke; stroke-width: 1px; }
.plot figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-top: 0.3rem; color: var(--quiet); font-size: 0.85rem; }
.code .added td { background: light-dark(#e6f5ea, #15301f); }
.code .removed td { background: light-dark(#fdeceb, #3a1f1f); }
.code .hunk td { padding-block: 0.2rem; background: var(--paper); color: var(--quiet); }
.listing { overflow-x: auto; margin: 0 0 1rem; padding: 0.9rem; border: 1px solid var(--line); border-radius: 0.35rem; font: 0.85rem/1.5 ui-monospace, monospace; white-space: pre-wrap; }
.note { border-left-width: 1px; }
article.note { margin: 0 0 1rem; padding: 0; border: 1px solid var(--line); border-radius: 0.35rem; background: none; color: inherit; }
.note > header { display: flex; flex-wrap: wrap; align-items: center; gap: 0.2rem 0.6rem; padding: 0.45rem 0.9rem; border-bottom: 1px solid var(--line); background: var(--paper); border-radius: 0.35rem 0.35rem 0 0; }
.note > .prose { padding: 0.75rem 0.9rem; }
.note:target, .event:target { outline: 2px solid var(--accent); outline-offset: 2px; }
.thread { margin: 0 0 1rem; padding-left: 0.75rem; border-left: 3px solid var(--line); }
.event del { text-decoration-color: var(--bad); }
.event ins { text-decoration-color: var(--accent); }
.event { margin: 0 0 0.75rem; color: var(--quiet); font-size: 0.9rem; }
.event .prose, .event .prose > p { display: inline; margin: 0; }
.prose { overflow-wrap: anywhere; }
.prose > :last-child { margin-bottom: 0; }
.page > .prose { margin-bottom: 1rem; }
.prose :is(h2, h3, h4, h5, h6) { margin: 1.4rem 0 0.6rem; line-height: 1.3; }
.prose > :first-child { margin-top: 0; }
.prose .anchor { margin-left: 0.4rem; color: var(--quiet); font-weight: 400; text-decoration: none; opacity: 0; }
.prose .anchor::before { content: "#"; }
.prose :hover > .anchor, .prose .anchor:focus-visible { opacity: 1; }
.prose h2 { font-size: 1.4rem; }
.prose h3 { font-size: 1.2rem; }
.prose h4 { font-size: 1.05rem; }
.prose img { max-width: 100%; height: auto; }
.prose pre { overflow-x: auto; margin: 0 0 1rem; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.35rem; background: var(--paper); line-height: 1.45; }
.prose pre code { overflow-wrap: normal; white-space: pre; }
.prose :not(pre) > code { padding: 0.05rem 0.3rem; border-radius: 0.25rem; background: var(--paper); }
.prose blockquote { margin: 0 0 1rem; padding-left: 0.9rem; border-left: 3px solid var(--line); color: var(--quiet); }
.prose table { display: block; width: max-content; max-width: 100%; overflow-x: auto; }
.prose th, .prose td { padding: 0.3rem 0.75rem; border: 1px solid var(--line); }
.prose .task-list { padding-left: 0.4rem; list-style: none; }
.prose .task-list input { width: auto; margin: 0 0.4rem 0 0; }
@media (max-width: 34rem) {
  .facts { grid-template-columns: repeat(auto-fill, minmax(min(100%, 9rem), 1fr)); gap: 0.6rem 1rem; }
  .things > li { flex-wrap: wrap; gap: 0.3rem 0.75rem; }
  .beside { flex-basis: 100%; max-width: 100%; text-align: left; }
  .beside:empty { display: none; }
}
`;
