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

const docker = `# An image of the Dockerfile, pushed into the registry of the project: the default branch's is called latest.
build:
  image: docker:cli
  services: [docker:dind]
  variables:
    IMAGE: $CI_REGISTRY_IMAGE:$CI_COMMIT_REF_SLUG
  before_script:
    - echo "$CI_REGISTRY_PASSWORD" | docker login -u "$CI_REGISTRY_USER" --password-stdin "$CI_REGISTRY"
  script:
    - docker build --pull -t "$IMAGE" .
    - docker push "$IMAGE"
    - |
      if [ "$CI_COMMIT_BRANCH" = "$CI_DEFAULT_BRANCH" ]; then
        docker tag "$IMAGE" "$CI_REGISTRY_IMAGE:latest"
        docker push "$CI_REGISTRY_IMAGE:latest"
      fi
  rules:
    - if: $CI_COMMIT_BRANCH
      exists: [Dockerfile]
`;

const gettingStarted = `# Three stages of a pipeline, as a beginning: each job runs its script, and jobs of one stage run side by side.
stages: [build, test, deploy]

build-job:
  stage: build
  script:
    - echo "Compiling the code"

unit-test-job:
  stage: test
  script:
    - echo "Running unit tests"

lint-job:
  stage: test
  script:
    - echo "Looking at the style of the code"

deploy-job:
  stage: deploy
  environment: production
  script:
    - echo "Deploying the application"
`;

const go = `# A module in Go: its modules are kept for the next job.
default:
  image: golang:latest
  cache:
    key:
      files: [go.sum]
    paths: [.go/pkg/mod/]

variables:
  GOPATH: $CI_PROJECT_DIR/.go

test:
  script:
    - go vet ./...
    - go test -race ./...

build:
  script:
    - mkdir -p bin
    - go build -o bin ./...
  artifacts:
    paths: [bin/]
`;

const gradle = `# A project of Gradle, by the wrapper in the repository.
default:
  image: eclipse-temurin:21
  cache:
    key: $CI_COMMIT_REF_NAME
    paths: [.gradle/wrapper, .gradle/caches]

variables:
  GRADLE_USER_HOME: $CI_PROJECT_DIR/.gradle
  GRADLE_OPTS: -Dorg.gradle.daemon=false

build:
  stage: build
  script:
    - ./gradlew --build-cache assemble

test:
  stage: test
  script:
    - ./gradlew --build-cache check
  artifacts:
    when: always
    reports:
      junit: build/test-results/test/**/TEST-*.xml
`;

const maven = `# A project of Maven: what it downloads is kept for the next job.
default:
  image: maven:3-eclipse-temurin-21
  cache:
    key: maven
    paths: [.m2/repository/]

variables:
  MAVEN_OPTS: -Dmaven.repo.local=$CI_PROJECT_DIR/.m2/repository
  MAVEN_CLI_OPTS: --batch-mode --errors --show-version

verify:
  stage: test
  script:
    - mvn $MAVEN_CLI_OPTS verify
  artifacts:
    when: always
    reports:
      junit: '**/target/surefire-reports/TEST-*.xml'
`;

const php = `# A project of Composer, tested by PHPUnit.
default:
  image: composer:2
  cache:
    key:
      files: [composer.lock]
    paths: [vendor/]

test:
  script:
    - composer install --no-interaction --prefer-dist
    - vendor/bin/phpunit --log-junit report.xml
  artifacts:
    when: always
    reports:
      junit: report.xml
`;

const ruby = `# A project of Bundler, tested by Rake.
default:
  image: ruby:latest
  cache:
    key:
      files: [Gemfile.lock]
    paths: [vendor/ruby]
  before_script:
    - bundle config set --local path vendor
    - bundle install --jobs "$(nproc)"

test:
  script:
    - bundle exec rake test
`;

const rust = `# A crate: what Cargo downloads and makes is kept for the next job.
default:
  image: rust:latest
  cache:
    key:
      files: [Cargo.lock]
    paths: [.cargo/registry, target/]

variables:
  CARGO_HOME: $CI_PROJECT_DIR/.cargo

test:
  script:
    - cargo test --workspace --locked

lint:
  script:
    - rustup component add clippy
    - cargo clippy --workspace --locked -- -D warnings
`;

const dotNet = `# A solution of .NET: what NuGet downloads is kept for the next job.
default:
  image: mcr.microsoft.com/dotnet/sdk:latest
  cache:
    key: nuget
    paths: [.nuget/packages]

variables:
  NUGET_PACKAGES: $CI_PROJECT_DIR/.nuget/packages

build:
  stage: build
  script:
    - dotnet build --configuration Release

test:
  stage: test
  script:
    - dotnet test --configuration Release
`;

const cpp = `# A program in C++ that make builds and tests.
default:
  image: gcc:latest

build:
  stage: build
  script:
    - make
  artifacts:
    paths: [bin/]

test:
  stage: test
  script:
    - make test
`;

const templates: ReadonlyMap<string, string> = new Map([
  ['Bash.gitlab-ci.yml', bash],
  ['C++.gitlab-ci.yml', cpp],
  ['Docker.gitlab-ci.yml', docker],
  ['Getting-Started.gitlab-ci.yml', gettingStarted],
  ['Go.gitlab-ci.yml', go],
  ['Gradle.gitlab-ci.yml', gradle],
  ['Maven.gitlab-ci.yml', maven],
  ['Nodejs.gitlab-ci.yml', node],
  ['PHP.gitlab-ci.yml', php],
  ['Python.gitlab-ci.yml', python],
  ['Ruby.gitlab-ci.yml', ruby],
  ['Rust.gitlab-ci.yml', rust],
  ['Workflows/Branch-Pipelines.gitlab-ci.yml', branches],
  ['Workflows/Default-Branch-And-MergeRequest-Pipelines.gitlab-ci.yml', mergeRequests],
  ['Workflows/MergeRequest-Pipelines.gitlab-ci.yml', branchesOrMergeRequests],
  ['dotNET.gitlab-ci.yml', dotNet],
]);

/** Undefined for an unknown name. */
export const templateText = (name: string): string | undefined => templates.get(name);

const ENDING = '.gitlab-ci.yml';

/** By their names without the ending of all. */
export const configurationTemplates: ReadonlyMap<string, string> = new Map(
  Array.from(templates, ([name, text]) => [name.slice(0, -ENDING.length), text]),
);
