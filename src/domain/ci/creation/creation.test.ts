/** Pipelines from files: by the API, by pushes, by trigger tokens. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { until } from '../../../../test/support/waiting.ts';

const app: TestApp = useApp();
let project: MadeProject;
let members: Record<'maintainer' | 'developer' | 'reporter', MadeUser>;

const FILE = `
stages: [build, test]
build:
  stage: build
  script: [make]
  variables: { WALL: granite }
test:
  stage: test
  script: make test
  parallel: 2
deploy:
  stage: test
  script: make deploy
  when: manual
  rules:
    - if: $DEPLOY == "yes"
`;

beforeAll(async () => {
  project = await makeProject(app);
  members = await makeMembers(app, `projects/${project.id}`, 'maintainer', 'developer', 'reporter');
});

const as = (who: keyof typeof members) => app.as(members[who].token);
const home = () => `/projects/${project.id}`;
const start = (body: Record<string, unknown>, who: keyof typeof members = 'maintainer') =>
  as(who)(`POST ${home()}/pipeline`, { body });
/** Commits files by the API, as one push. */
async function commit(files: Record<string, string>, message = 'Change', branch = 'main'): Promise<string> {
  const known = await as('maintainer')(`GET ${home()}/repository/tree?ref=${branch}`);
  const there = new Set(known.status === 200 ? known.body.map(({ path }: { path: string }) => path) : []);
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: there.has(file_path) ? 'update' : 'create',
    file_path,
    content,
  }));
  const body = {
    branch,
    commit_message: message,
    actions,
    ...(known.status !== 200 && branch !== 'main' && { start_branch: 'main' }),
  };
  return bodyOf(await as('maintainer')(`POST ${home()}/repository/commits`, { body }), 201).id;
}
const pipelinesOf = async (sha: string) =>
  bodyOf(await as('developer')(`GET ${home()}/pipelines?sha=${sha}`), 200);
/** The pipeline that the push of the commit makes. */
async function pushed(sha: string) {
  let found = await pipelinesOf(sha);
  await until(async () => {
    found = await pipelinesOf(sha);
    return found.length > 0;
  }, 'a pipeline of the push');
  return found[0];
}
const jobsOf = async (id: number): Promise<Record<string, string>> => {
  const { body } = await as('developer')(`GET ${home()}/pipelines/${id}/jobs`);
  return Object.fromEntries(
    body.toReversed().map((job: { name: string; status: string }) => [job.name, job.status]),
  );
};
const refusal = async (body: Record<string, unknown>, who?: keyof typeof members): Promise<unknown> => {
  const { status, body: said } = await start(body, who);
  return [status, said.message];
};

describe('a pipeline', () => {
  test('is not made of what is not there', async () => {
    expect(await refusal({ ref: 'main' })).toEqual([400, { base: ['Reference not found'] }]);
    await commit({ 'README.md': 'Granite' });
    expect(await refusal({ ref: 'main' })).toEqual([400, { base: ['Missing CI config file'] }]);
    expect((await start({ ref: 'main' }, 'reporter')).status).toBe(403);
  });

  test('comes from a push, and from a request', async () => {
    const sha = await commit({ '.gitlab-ci.yml': FILE });
    const pipeline = await pushed(sha);
    expect(pipeline).toMatchObject({ sha, ref: 'main', source: 'push', status: 'pending' });
    expect(await jobsOf(pipeline.id)).toEqual({
      build: 'pending',
      'test 1/2': 'created',
      'test 2/2': 'created',
    });
    const made = bodyOf(
      await start({ ref: 'main', variables: [{ key: 'DEPLOY', value: 'yes' }] }, 'maintainer'),
      201,
    );
    expect(made).toMatchObject({ sha, source: 'api', status: 'pending', before_sha: '0'.repeat(40) });
    expect(await jobsOf(made.id)).toEqual({
      build: 'pending',
      'test 1/2': 'created',
      'test 2/2': 'created',
      deploy: 'created',
    });
    const given = await as('maintainer')(`GET ${home()}/pipelines/${made.id}/variables`);
    expect(given.body).toEqual([{ variable_type: 'env_var', key: 'DEPLOY', value: 'yes' }]);
    expect((await as('developer')(`GET ${home()}/pipelines/${made.id}/variables`)).status).toBe(403);
  });

  test('takes the place of an older one of the ref that has not begun', async () => {
    const [before] = bodyOf(await as('developer')(`GET ${home()}/pipelines?per_page=1`), 200);
    const sha = await commit({ 'README.md': 'Marble' });
    await pushed(sha);
    const { status } = bodyOf(await as('developer')(`GET ${home()}/pipelines/${before.id}`), 200);
    expect(status).toBe('canceled');
  });

  test('of a wrong file failed where it was pushed, and is refused where it was asked for', async () => {
    const sha = await commit({ '.gitlab-ci.yml': 'build:\n  script: make\n  nothing: 1\n' });
    const listed = await pushed(sha);
    const { status, yaml_errors } = bodyOf(
      await as('developer')(`GET ${home()}/pipelines/${listed.id}`),
      200,
    );
    const problem = 'jobs:build config contains unknown keys: nothing (line 3, column 3)';
    expect([status, yaml_errors]).toEqual(['failed', problem]);
    const jobs = Array.from({ length: 150 }, (_, at) => `build${at}: {script: make, nothing: 1}\n`);
    const many = await pushed(await commit({ '.gitlab-ci.yml': jobs.join('') }));
    const kept = bodyOf(await as('developer')(`GET ${home()}/pipelines/${many.id}`), 200).yaml_errors;
    expect(kept.split('\n')).toHaveLength(100);
    await commit({ '.gitlab-ci.yml': 'build:\n  script: make\n  nothing: 1\n' }).then(pushed);
    expect(await refusal({ ref: 'main' })).toEqual([400, { base: [problem] }]);
  });

  test('that its rules leave out is none', async () => {
    await commit({ '.gitlab-ci.yml': 'build:\n  script: make\n  rules:\n    - when: never\n' });
    expect(await refusal({ ref: 'main' })).toEqual([
      400,
      {
        base: [
          'The resulting pipeline would have been empty. Review the [rules] configuration for the relevant jobs.',
        ],
      },
    ]);
  });

  test('is skipped where the commit asks for it', async () => {
    const sha = await commit({ '.gitlab-ci.yml': FILE }, 'Change [skip ci]');
    const pipeline = await pushed(sha);
    expect(pipeline.status).toBe('skipped');
    expect(await jobsOf(pipeline.id)).toEqual({});
  });

  test('has the variables of the project in its rules', async () => {
    const variable = { key: 'DEPLOY', value: 'yes' };
    bodyOf(await as('maintainer')(`POST ${home()}/variables`, { body: variable }), 201);
    const made = bodyOf(await start({ ref: 'main' }), 201);
    expect(Object.keys(await jobsOf(made.id))).toContain('deploy');
    bodyOf(await as('maintainer')(`POST ${home()}/variables`, { body: { ...variable, key: 'SECRET' } }), 201);
    await as('maintainer')(`PUT ${home()}/variables/DEPLOY`, { body: { protected: true } });
    bodyOf(
      await as('maintainer')(`POST ${home()}/repository/branches`, { body: { branch: 'side', ref: 'main' } }),
      201,
    );
    const other = bodyOf(await start({ ref: 'side' }), 201);
    expect(Object.keys(await jobsOf(other.id))).not.toContain('deploy');
    await as('maintainer')(`DELETE ${home()}/variables/DEPLOY`);
  });

  test('includes files of projects that the one who starts it may read', async () => {
    const hidden = await makeProject(app);
    const body = {
      branch: 'main',
      commit_message: 'Templates',
      actions: [{ action: 'create', file_path: 'ci.yml', content: 'shared:\n  script: make shared\n' }],
    };
    bodyOf(await app.root(`POST /projects/${hidden.id}/repository/commits`, { body }), 201);
    await commit({
      '.gitlab-ci.yml': `include:\n  - local: own.yml\n  - project: ${hidden.path_with_namespace}\n    file: ci.yml\n`,
      'own.yml': 'own:\n  script: make own\n',
    });
    expect(await refusal({ ref: 'main' })).toEqual([
      400,
      {
        base: [
          `Project \`${hidden.path_with_namespace}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined. (line 3, column 5)`,
        ],
      },
    ]);
    const made = bodyOf(await app.root(`POST ${home()}/pipeline`, { body: { ref: 'main' } }), 201);
    expect(Object.keys(await jobsOf(made.id)).sort()).toEqual(['own', 'shared']);
    // Under its old path too, and for nobody else.
    await app.root(`PUT /projects/${hidden.id}`, { body: { path: 'moved-templates' } });
    const again = bodyOf(await app.root(`POST ${home()}/pipeline`, { body: { ref: 'main' } }), 201);
    expect(Object.keys(await jobsOf(again.id)).sort()).toEqual(['own', 'shared']);
    expect(await refusal({ ref: 'main' })).toEqual([
      400,
      { base: [expect.stringMatching(/access denied!/)] },
    ]);
    const { valid } = bodyOf(await app.root(`GET ${home()}/ci/lint`), 200);
    expect(valid).toBe(true);
  });

  test('includes components of projects that the one who starts it may read', async () => {
    const hidden = await makeProject(app);
    const tools = `/projects/${hidden.id}`;
    const publish = async (version: string, isReleased: boolean) => {
      const text = `spec:\n  component: [name, version, reference, sha]\n---\nlint-${version}:\n  script: "$[[ component.name ]] $[[ component.version ]] $[[ component.reference ]]"\n`;
      const body = {
        branch: 'main',
        commit_message: version,
        actions: [
          {
            action: version === '1.0.0' ? 'create' : 'update',
            file_path: 'templates/lint.yml',
            content: text,
          },
          ...(version === '1.0.0'
            ? [{ action: 'create', file_path: 'templates/deep/template.yml', content: 'deep: {script: x}' }]
            : []),
        ],
      };
      bodyOf(await app.root(`POST ${tools}/repository/commits`, { body }), 201);
      const tag = { tag_name: version, ref: 'main' };
      bodyOf(await app.root(`POST ${tools}/repository/tags`, { body: tag }), 201);
      if (isReleased) bodyOf(await app.root(`POST ${tools}/releases`, { body: { tag_name: version } }), 201);
    };
    await publish('1.0.0', true);
    await publish('1.2.0', true);
    await publish('1.10.0', false);
    const at = `$CI_SERVER_FQDN/${hidden.path_with_namespace}`;
    const lint = async (address: string, who = app.root) => {
      const content = `include: [{component: ${address}}]`;
      const body = { content, include_jobs: true };
      const { errors, jobs } = bodyOf(await who(`POST ${home()}/ci/lint`, { body }), 200);
      return errors.length > 0 ? errors : jobs.map(({ script }: { script: string[] }) => script.join());
    };
    for (const [version, called] of [
      ['~latest', '1.2.0'],
      ['1', '1.2.0'],
      ['1.0', '1.0.0'],
      ['1.10', '1.10.0'],
      ['1.10.0', '1.10.0'],
      ['main', 'main'],
    ])
      expect(await lint(`${at}/lint@${version}`)).toEqual([`lint ${called} ${version}`]);
    expect(await lint(`${at}/deep@main`)).toEqual(['x']);
    // A tag comes before a branch of its name.
    const branch = { branch: '1.10.0', ref: '1.0.0' };
    bodyOf(await app.root(`POST ${tools}/repository/branches`, { body: branch }), 201);
    const both = `[{component: ${at}/lint@1.10.0}, {component: ${at}/deep@1.10.0}]`;
    const body = { content: `include: ${both}`, include_jobs: true };
    const { jobs } = bodyOf(await app.root(`POST ${home()}/ci/lint`, { body }), 200);
    expect(jobs.map(({ name }: { name: string }) => name).sort()).toEqual(['deep', 'lint-1.10.0']);
    const missing = /^Component '.*' - content not found \(line 1, column 11\)$/;
    for (const address of [
      `${at}/lint@2`,
      `${at}/none@1`,
      `elsewhere.test/${hidden.path_with_namespace}/lint@1`,
    ])
      expect(await lint(address), address).toEqual([expect.stringMatching(missing)]);
    // Nothing tells a project that is closed from one that is not there.
    const [closed] = await lint(`${at}/lint@1`, as('maintainer'));
    const [nowhere] = await lint('$CI_SERVER_FQDN/nobody/nothing/lint@1', as('maintainer'));
    expect(closed).toMatch(missing);
    expect(closed.replace(hidden.path_with_namespace, 'nobody/nothing')).toBe(nowhere);
  });

  test('is made of a file in another project, where the settings say so', async () => {
    const other = await makeProject(app);
    const body = {
      branch: 'main',
      commit_message: 'Templates',
      actions: [
        { action: 'create', file_path: 'ci.yml', content: 'include: more.yml\nshared:\n  script: make\n' },
        { action: 'create', file_path: 'more.yml', content: 'more:\n  script: make more\n' },
      ],
    };
    bodyOf(await app.root(`POST /projects/${other.id}/repository/commits`, { body }), 201);
    const asks = (ci_config_path: string) =>
      app.root(`PUT ${home()}`, { body: { ci_config_path } }).then((reply) => bodyOf(reply, 200));
    await asks(`ci.yml@${other.path_with_namespace}`);
    try {
      const made = bodyOf(await app.root(`POST ${home()}/pipeline`, { body: { ref: 'main' } }), 201);
      expect(Object.keys(await jobsOf(made.id)).sort()).toEqual(['more', 'shared']);
      await asks(`ci.yml@${other.path_with_namespace}:v1`);
      expect(await refusal({ ref: 'main' })).toEqual([
        400,
        { base: [expect.stringMatching(/^Project `.*` not found or access denied!/)] },
      ]);
      await asks(`ci.yml@${other.path_with_namespace}`);
      await app.root(`PUT /projects/${other.id}`, { body: { path: 'moved-project' } });
      const again = bodyOf(await app.root(`POST ${home()}/pipeline`, { body: { ref: 'main' } }), 201);
      expect(Object.keys(await jobsOf(again.id)).sort()).toEqual(['more', 'shared']);
    } finally {
      await asks('');
    }
  });

  test('is refused where all of its jobs together are too long to be kept', async () => {
    await commit({ '.gitlab-ci.yml': `build: {script: ${'x'.repeat(500_000)}, parallel: 200}` });
    expect(await refusal({ ref: 'main' })).toEqual([
      400,
      { base: ['The jobs of the pipeline are too long'] },
    ]);
  });

  test('takes variables from those who may give them', async () => {
    await commit({ '.gitlab-ci.yml': FILE });
    const variables = [{ key: 'A', value: '1' }];
    await app.root(`PUT ${home()}`, { body: { ci_pipeline_variables_minimum_override_role: 'owner' } });
    expect(await refusal({ ref: 'main', variables })).toEqual([
      400,
      { base: ['Insufficient permissions to set pipeline variables'] },
    ]);
    await app.root(`PUT ${home()}`, { body: { ci_pipeline_variables_minimum_override_role: 'maintainer' } });
    expect(await refusal({ ref: 'main', variables: [...variables, ...variables] })).toEqual([
      400,
      { base: ['Duplicate variable name: A'] },
    ]);
    expect((await start({ ref: 'main', variables: [{ key: 'A B', value: '1' }] })).status).toBe(400);
    expect((await start({ ref: 'main', variables })).status).toBe(201);
  });

  test('of a protected branch is for those who may push to it', async () => {
    bodyOf(
      await as('maintainer')(`POST ${home()}/protected_branches`, {
        body: { name: 'side', push_access_level: 40, merge_access_level: 40 },
      }),
      201,
    );
    expect(await refusal({ ref: 'side' }, 'developer')).toEqual([
      400,
      {
        base: [
          "You do not have sufficient permission to run a pipeline on 'side'. Please select a different branch or contact your administrator for assistance.",
        ],
      },
    ]);
    expect(await refusal({ ref: 'side~0' }, 'developer')).toEqual([400, { base: ['Reference not found'] }]);
  });
});

describe('a trigger token', () => {
  const send = (token: string, path = `${home()}/trigger/pipeline`, more: Record<string, unknown> = {}) =>
    app.call(`POST ${path}`, { body: { token, ref: 'main', ...more } });

  test('starts a pipeline in the name of its owner, and tells when it did', async () => {
    const made = bodyOf(
      await as('maintainer')(`POST ${home()}/triggers`, { body: { description: 'Crane' } }),
      201,
    );
    expect(made.last_used).toBeNull();
    const pipeline = bodyOf(await send(made.token, undefined, { variables: { DEPLOY: 'yes' } }), 201);
    expect(pipeline).toMatchObject({ source: 'trigger', user: { id: members.maintainer.id } });
    expect(Object.keys(await jobsOf(pipeline.id))).toContain('deploy');
    const path = `/projects/${encodeURIComponent(project.path_with_namespace)}/ref/main/trigger/pipeline`;
    expect((await app.call(`POST ${path}`, { body: { token: made.token } })).status).toBe(201);
    const [listed] = bodyOf(await as('maintainer')(`GET ${home()}/triggers`), 200);
    expect(listed.last_used).not.toBeNull();
  });

  test('of another project, or of one who left, is none', async () => {
    const other = await makeProject(app);
    const { token } = bodyOf(
      await as('maintainer')(`POST ${home()}/triggers`, { body: { description: 'Crane' } }),
      201,
    );
    expect((await send(token, `/projects/${other.id}/trigger/pipeline`)).status).toBe(404);
    expect((await send('glptt-nothing')).status).toBe(404);
    const mine = bodyOf(
      await as('maintainer')(`POST ${home()}/triggers`, { body: { description: 'x' } }),
      201,
    );
    await app.root(`DELETE ${home()}/members/${members.maintainer.id}`);
    expect((await send(mine.token)).status).toBe(404);
  });
});
