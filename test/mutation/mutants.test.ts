/** The mutants of a source, and that the text with all of them is still a program. */
import { globSync, readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';
import { mutate } from './mutants.ts';

const changesOf = (source: string, file = 'src/domain/x/routes.ts'): string[] =>
  mutate(file, source).mutants.map(({ change }) => change);

test.each([
  [`if (!project.may('update')) throw forbidden();`, ['guard removed', 'negated', 'always', 'never']],
  [`if (row.size > 3) throw invalid('too big');`, []],
  ['requireManagement(subject);', ['statement removed']],
  [`endpoint({ access: onProject('push_code') });`, [`asks for 'read_project' alone`, 'opened to all']],
  [`endpoint({ access: onProject('read_project_members') });`, ['opened to all']],
  ['endpoint({ access: signedIn });', ['opened to all']],
  [`endpoint({ access: onInstance });`, ['opened to all']],
  [
    `const project = await authorizeProject(sql, actor, 'push_code', id);`,
    ['asked as an administrator', `asks for 'read_project' alone`],
  ],
])('%s', (source, changes) => {
  expect(changesOf(source)).toEqual(changes);
});

test('a row of the policy', () => {
  const source = 'export const projectPolicy = { push_code: { least: DEVELOPER, auditor: true } };';
  expect(changesOf(source, 'src/kernel/policy/policy.ts')).toEqual(['least is REPORTER', 'dropped']);
});

test('every source is a program with its mutants in it, each of which has a name of its own', () => {
  const ids = globSync('src/{kernel,domain}/**/*.ts')
    .filter((file) => !/(\.test|\/samples)\.ts$/.test(file))
    .flatMap((file) => {
      const { mutants, text } = mutate(file, readFileSync(file, 'utf8'));
      expect(() => parseAst(text, { lang: 'ts' }), file).not.toThrow();
      return mutants.map(({ id }) => id);
    });
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(1_000);
});
