/** Whatever a file holds, it comes to jobs or to errors: nothing else is thrown. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { compile, lint } from './compile.ts';
import type { Files, PipelineContext } from './context.ts';

const context: PipelineContext = {
  at: { project: 'group/app', sha: 'abc' },
  source: 'push',
  ref: 'main',
  refKind: 'branch',
  mostNeeds: 50,
  predefined: [{ key: 'CI_COMMIT_BRANCH', value: 'main' }],
  overriding: [],
  changedPaths: async () => ['a.txt'],
};
const files: Files = {
  commit: async () => 'no_ref',
  read: async () => '.base: {script: x}',
  paths: async () => ['a.yml'],
  remote: async () => ({ kind: 'failed', reason: 500, attempts: 3 }),
  component: async () => undefined,
};

const keywords =
  `default include before_script image services after_script variables stages cache workflow spec script stage only
  except rules allow_failure when needs resource_group environment interruptible trigger parallel matrix extends inherit tags
  start_in artifacts dependencies hooks coverage retry timeout inputs release id_tokens pages run if changes exists paths name
  key files job pipeline project optional max exit_codes reports junit local remote file template value expand a .base`.split(
    /\s+/,
  );

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    ...keywords,
    null,
    true,
    false,
    '',
    'test',
    'a',
    '$A',
    '$$',
    '/a+/',
    '1h',
    'manual',
    'delayed',
  ),
  fc.integer({ min: -1, max: 300 }),
  fc.double({ noNaN: false }),
  fc.string({ maxLength: 5 }),
);

const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    leaf,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keywords), tie('tree'), { maxKeys: 4 }),
  ),
}));

/** Jobs that are right but for one keyword, which is of any kind. */
const job = fc
  .tuple(fc.constantFrom('script', 'trigger'), fc.constantFrom(...keywords), tree)
  .map(([kind, keyword, value]) => ({ [kind]: 'x', [keyword]: value }));

const judged = async (text: string): Promise<boolean> => {
  const { outcome } = await compile({ text, context, files });
  const { errors } = await lint({ text, context, files });
  JSON.stringify(outcome);
  return outcome.kind === 'invalid' ? outcome.errors.length > 0 : errors.length === 0;
};

test('trees of keywords', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...keywords), tree), (root) => judged(stringify(root))),
    { numRuns: 300 },
  );
});

test('jobs with any keyword of any kind', async () => {
  await fc.assert(
    fc.asyncProperty(job, job, (a, b) => judged(stringify({ a, b, '.base': { script: 'x' } }))),
    { numRuns: 600 },
  );
});

test('texts of signs', async () => {
  const sign = fc.constantFrom(
    ...[
      'a',
      ':',
      ' ',
      '\n',
      '-',
      '[',
      ']',
      '{',
      '}',
      ',',
      '&x',
      '*x',
      '!reference',
      '<<',
      '"',
      "'",
      '|',
      '>',
      '#',
      '%',
    ],
    ...['---', '$[[', ']]', 'script', 'spec', 'inputs', '\t', '\0', '\ue000', '0', '\ue001'],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(sign, { maxLength: 40 }), (signs) => judged(signs.join(''))),
    { numRuns: 1_000 },
  );
  expect(await judged('a: {script: x}')).toBe(true);
});
