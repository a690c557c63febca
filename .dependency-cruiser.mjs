/** The import rule of ARCHITECTURE.md, checked: main → app → domain/<capability> → kernel → platform. */
import { readdirSync } from 'node:fs';
import { edges } from './architecture/edges.ts';

const capabilities = readdirSync('src/domain');

/** What a resource tells the contract tests is theirs. */
const ofTests = '\\.test\\.ts$|/samples\\.ts$';

/** Tests and samples may look behind a door. */
const keepsApart = (capability) => ({
  name: `${capability}-keeps-apart`,
  severity: 'error',
  comment: 'Along an edge of architecture/edges.ts only, and only through index.ts.',
  from: { path: `^src/domain/${capability}/`, pathNot: ofTests },
  to: {
    path: '^src/domain/',
    pathNot: [
      `^src/domain/${capability}/`,
      ...edges.filter(({ from }) => from === capability).map(({ to }) => `^src/domain/${to}/index\\.ts$`),
    ],
  },
});

const below = (name, from, to, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  to: { path: to },
});

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Arrows point down.',
      from: { path: '^src' },
      to: { circular: true },
    },
    below(
      'platform-knows-no-domain',
      '^src/platform/',
      '^src/(kernel|domain|commands|lab|main|app|capabilities|cli)',
      'The technical floor.',
    ),
    below(
      'kernel-knows-no-capability',
      '^src/kernel/',
      '^src/(domain|commands|lab|main|app|capabilities|cli)',
      'The part that every capability needs.',
    ),
    below(
      'domain-is-mounted',
      '^src/domain/',
      '^src/(commands|lab|main|app|capabilities|cli)',
      'Capabilities are given what they need.',
    ),
    below(
      'lab-is-for-tests',
      '^src/(commands|main|app|capabilities|instance)',
      '^src/lab/',
      'Only the command line starts it: what is served to people knows nothing of it.',
    ),
    ...capabilities.map(keepsApart),
    {
      name: 'lab-uses-doors',
      severity: 'error',
      comment:
        'The lab is outside of the capabilities, and knows none of them but through index.ts, and what main.ts does first.',
      from: { path: '^src/lab/', pathNot: ofTests },
      to: { path: '^src/domain/', pathNot: '^src/domain/([^/]+/index|accounts/first-start-actions)\\.ts$' },
    },
    {
      name: 'driver-behind-the-platform',
      severity: 'error',
      comment: 'Only platform/db knows by what the database is spoken to.',
      from: { path: '^src/', pathNot: '^src/platform/db/' },
      to: { path: 'node_modules/(pg|pg-pool|pg-protocol|pg-types|@types/pg)/' },
    },
    {
      name: 'one-reader-of-randomness',
      severity: 'error',
      comment: 'Secrets and randomness come from platform/secret.ts.',
      from: { path: '^src/(kernel|domain)/', pathNot: ofTests },
      to: { path: '^(node:)?crypto$' },
    },
    {
      name: 'tests-are-not-imported',
      severity: 'error',
      from: { path: '^src', pathNot: ofTests },
      to: { path: `^test/|${ofTests}` },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|data)' },
    // The TypeScript 7 compiler has no API yet.
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.mjs'], conditionNames: ['import', 'node'] },
  },
};
