/** Commits a first configuration file of pipelines. */
import { type Endpoint, endpoint, noContent } from '../../../kernel/api/endpoint.ts';
import { firstBranchName } from '../../../kernel/settings/definitions.ts';
import { badRequest } from '../../../platform/failure.ts';
import { commitAccess, createCommit } from '../../repositories/index.ts';
import { configPathOf } from './compile-request.ts';
import { includedInstead } from './rules.ts';

const CONTENT = `# Jobs of this project's pipelines. Every push runs them.
stages:
  - build
  - test

build:
  stage: build
  script:
    - echo "Build the project here."

test:
  stage: test
  script:
    - echo "Test the project here."
`;

export const createConfigEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/create_ci_config',
    summary: 'Commits a first configuration file of pipelines to the default branch; 400 where there is one.',
    access: commitAccess,
    also: [422],
    reply: noContent,
    handle: async ({ services, settings, actor, subject }) => {
      const path = configPathOf(subject);
      if (includedInstead(path) !== undefined)
        throw badRequest('The configuration file is not in this project');
      const wish = {
        branch: subject.row.default_branch ?? firstBranchName(settings),
        commit_message: `Add ${path}`,
        actions: [{ action: 'create' as const, file_path: path, content: CONTENT }],
      };
      await createCommit({ services, settings, actor, subject }, wish);
      return null;
    },
  }),
];
