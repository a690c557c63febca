/** Changelogs of repositories (facts: 2.15). */
import Type, { type Static } from 'typebox';
import { onProject } from '../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { type Endpoint, endpoint, noContent, Reply } from '../../kernel/api/endpoint.ts';
import { firstBranchName } from '../../kernel/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import { forbidden, invalid } from '../../platform/failure.ts';
import { MAX_NAME_BYTES } from '../../platform/git/names.ts';
import { dateTime } from '../../platform/http/parameters/schema.ts';
import { commitAccess, existingBranch, revision } from '../repositories/index.ts';
import { commitSection } from './actions.ts';
import { generateSection, type Wish } from './generation.ts';
import { MAX_VERSION_LENGTH, parseVersion, VERSION_PATTERN, type Version } from './versions.ts';

const path = '/projects/:id/repository/changelog';
const commit = (description: string) =>
  Type.Optional(Type.String({ ...revision, maxLength: MAX_NAME_BYTES, description }));
const file = (description: string) => Type.Optional(Type.String({ maxLength: 4_096, description }));

const fields = {
  version: Type.String({
    maxLength: MAX_VERSION_LENGTH,
    ruled: { pattern: VERSION_PATTERN },
    description: 'The version, as semver.org has it.',
  }),
  from: commit(
    'The commit after which changes are counted; the tag of the last stable version unless given.',
  ),
  to: commit('The last commit that is counted; the head of the branch unless given.'),
  date: Type.Optional(dateTime({ description: 'The day of the version; now unless given.' })),
  trailer: Type.Optional(
    Type.String({ maxLength: 255, default: 'Changelog', description: 'The trailer that commits have.' }),
  ),
  config_file: file('The configuration file, instead of `.gitlab/changelog_config.yml`.'),
  config_file_ref: commit('Where the configuration file is read; the default branch unless given.'),
};

const ReadInput = Type.Object(fields);
const WriteInput = Type.Object({
  ...fields,
  branch: Type.Optional(Type.String({ ...existingBranch, maxLength: MAX_NAME_BYTES })),
  file: file('The file of the changelog; `CHANGELOG.md` unless given.'),
  message: Type.Optional(Type.String({ maxLength: 1_048_576, description: 'The message of the commit.' })),
});

function versionOf(text: string): Version {
  const version = parseVersion(text);
  if (!version) throw invalid({ version: ['is invalid'] });
  return version;
}

const wishOf = (input: Static<typeof ReadInput>, head: string): Wish => ({
  version: versionOf(input.version),
  name: input.version,
  from: input.from,
  to: input.to || head,
  date: input.date === undefined ? now() : new Date(input.date),
  trailer: input.trailer || 'Changelog',
  configFile: input.config_file,
  configRef: input.config_file_ref,
});

const readCode = onProject('read_code');

/** Who writes the repository reads it, or is refused. */
function requireReader(project: AuthorizedProject): void {
  if (!project.may('read_code')) throw forbidden();
}

export const changelogEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    summary:
      'The section of a version in a changelog, made of the commits with a trailer since the version before.',
    access: readCode,
    jobToken: true,
    also: [422],
    input: ReadInput,
    reply: Type.Object({ notes: Type.String() }),
    handle: async (context) => ({
      notes: await generateSection(context, wishOf(context.input, 'HEAD')),
    }),
  }),
  endpoint({
    method: 'POST',
    path,
    status: 200,
    summary: 'Commits the section of a version to the file of a changelog, before those of earlier versions.',
    access: commitAccess,
    also: [422],
    input: WriteInput,
    reply: noContent,
    handle: async (context) => {
      const { input, subject, settings } = context;
      requireReader(subject);
      const branch = input.branch || (subject.row.default_branch ?? firstBranchName(settings));
      const wish = wishOf(input, `refs/heads/${branch}`);
      const section = await generateSection(context, wish);
      await commitSection(
        context,
        { version: wish.version, name: wish.name, section },
        {
          branch,
          file: input.file || 'CHANGELOG.md',
          message: input.message || `Add changelog for version ${input.version}`,
        },
      );
      return new Reply(200);
    },
  }),
];
