/** The files that `include:template` names. */

const branchesOrMergeRequests = `# A merge request's pipeline where a branch has one, else the branch's; tags have theirs.
workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_TAG
    - if: $CI_COMMIT_BRANCH && $CI_OPEN_MERGE_REQUESTS
      when: never
    - if: $CI_COMMIT_BRANCH
`;

const mergeRequests = `# Pipelines for merge requests, tags and the default branch.
workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_TAG
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
`;

const branches = `# Pipelines for branches and tags, none for merge requests.
workflow:
  rules:
    - if: $CI_COMMIT_TAG
    - if: $CI_COMMIT_BRANCH
`;

const bash = `# Shell scripts: put the commands of your project in place of these.
stages: [build, test, deploy]

build:
  stage: build
  script:
    - echo "Build here"

test:
  stage: test
  script:
    - echo "Test here"

deploy:
  stage: deploy
  environment: production
  script:
    - echo "Deploy here"
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
`;

const node = `# A package of Node.js: its dependencies are installed by the lockfile and kept for the next job.
default:
  image: node:lts
  cache:
    key:
      files: [package-lock.json]
    paths: [.npm/]

test:
  script:
    - npm ci --cache .npm --prefer-offline
    - npm test
`;

const python = `# A Python project: its requirements are installed into an environment of its own.
default:
  image: python:3
  cache:
    paths: [.cache/pip]

variables:
  PIP_CACHE_DIR: $CI_PROJECT_DIR/.cache/pip

test:
  script:
    - python -m venv .venv
    - . .venv/bin/activate
    - pip install -r requirements.txt
    - python -m unittest
`;

const templates: ReadonlyMap<string, string> = new Map([
  ['Bash.gitlab-ci.yml', bash],
  ['Nodejs.gitlab-ci.yml', node],
  ['Python.gitlab-ci.yml', python],
  ['Workflows/Branch-Pipelines.gitlab-ci.yml', branches],
  ['Workflows/Default-Branch-And-MergeRequest-Pipelines.gitlab-ci.yml', mergeRequests],
  ['Workflows/MergeRequest-Pipelines.gitlab-ci.yml', branchesOrMergeRequests],
]);

/** Undefined for an unknown name. */
export const templateText = (name: string): string | undefined => templates.get(name);
