/** Styles of messages around pages: of administrators to everybody, by their themes, and at the top and the bottom. */

const themes = {
  indigo: ['#3b3a8f', '#ffffff'],
  'light-indigo': ['#dcdcf7', '#26255f'],
  blue: ['#0b4f9e', '#ffffff'],
  'light-blue': ['#d5e7fb', '#0a376c'],
  green: ['#0f6137', '#ffffff'],
  'light-green': ['#d3f0de', '#0d4427'],
  red: ['#a3261b', '#ffffff'],
  'light-red': ['#fbdad6', '#741a12'],
  dark: ['#1d2430', '#ffffff'],
  light: ['#eceff4', '#1d2430'],
} as const;

export const messageStyle = `.broadcast { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; padding: 0.6rem clamp(0.75rem, 4vw, 1.5rem); border-bottom: 1px solid var(--line); }
.broadcast p { flex: 1 1 16rem; margin: 0; white-space: pre-line; }
.broadcast button.plain { color: inherit; }
.broadcast.notification { max-width: 27rem; margin: 1rem auto 0; border: 1px solid var(--line); border-radius: 0.6rem; }
${Object.entries(themes)
  .map(([name, [paper, ink]]) => `.broadcast.${name} { background: ${paper}; color: ${ink}; }`)
  .join('\n')}
.site-message { margin: 0; padding: 0.3rem 1rem; text-align: center; white-space: pre-line; }
.brand img { display: block; max-width: 14rem; max-height: 28px; }
.welcome { max-width: 27rem; margin: 0 auto 1.5rem; text-align: center; }
.welcome img { max-width: 100%; max-height: 9rem; }
.welcome p { white-space: pre-line; }
.welcome .name { font-size: 1.5rem; font-weight: 700; }
`;
