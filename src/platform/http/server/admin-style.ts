/** Styles of pages for administrators: forms with many fields, and what is done to the items of a list. */
export const adminStyle = `.problem { margin: 0.4rem 0 0; color: var(--bad); font-size: 0.9rem; font-weight: 600; }
.choice .problem { grid-column: 2; margin: 0; }
fieldset .about { grid-column: 1 / -1; margin-bottom: 1rem; }
button.small { padding: 0.3rem 0.8rem; font-size: 0.95rem; }
.note.done { background: light-dark(#e3f4e8, #173423); color: light-dark(#17603a, #8fdcab); }
.message > :last-child { margin-bottom: 0; }
.notices { padding: 0; list-style: none; }
.notices li { margin-bottom: 0.5rem; padding: 0.6rem 0.9rem; border-left: 4px solid var(--note); border-radius: 0.35rem; background: var(--note-paper); }
.notices a { color: var(--note); font-weight: 600; }
.changes { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0.5rem 0.75rem; }
.things > li > .changes { flex: 0 1 auto; justify-content: flex-end; }
.ask { padding: 0; border: 0; }
.ask summary { padding: 0.3rem 0.8rem; border: 1px solid var(--line); border-radius: 0.35rem; color: var(--accent); font-size: 0.95rem; list-style: none; }
.ask summary::-webkit-details-marker { display: none; }
.ask[open] { flex-basis: 100%; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.35rem; }
.ask[open] summary { display: inline-block; }
.search { display: flex; flex-wrap: wrap; align-items: center; gap: 0.35rem 0.75rem; margin-bottom: 0.75rem; }
.search label { flex-basis: 100%; margin: 0; color: var(--quiet); font-size: 0.9rem; font-weight: 400; }
.search input { flex: 1 1 12rem; width: auto; max-width: 24rem; padding: 0.3rem 0.6rem; }
form.narrow { max-width: 30rem; }
form.settings { max-width: 42rem; }
.settings input[inputmode='numeric'] { max-width: 12rem; }
.settings .hint code { color: var(--quiet); font-size: 0.85em; }
.save { padding-top: 1rem; border-top: 1px solid var(--line); }
main > .tabs + .card { max-width: none; }
@media (max-width: 34rem) {
  .things > li > .changes { justify-content: flex-start; }
}
`;
