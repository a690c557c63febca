/** Names, versions and descriptions of Composer packages (facts-packages: 1.1, 1.7). Pure. */
import { Failure } from '../../../platform/failure.ts';
import { parseJsonBody, type RawObject } from '../../../platform/http/parameters/raw-parameters.ts';

// Each has one way alone to fit a text: otherwise a long one that fits none would take for ever.
const NAME = /^[a-z0-9]+(?:[_.-][a-z0-9]+)*\/[a-z0-9]+(?:(?:[_.]|--?)[a-z0-9]+)*$/;
const MAX_LENGTH = 255;
const RELEASE =
  /^v?\d{1,9}(?:\.\d{1,9}){0,3}(?:[._-]?(?:stable|beta|b|rc|alpha|a|patch|pl|p)(?:[.-]?\d+(?:[.-]\d+)*)?)?(?:[.-]?dev)?$/i;
const NUMBERED_BRANCH = /^v?(\d+(?:\.\d+){0,3})(?:\.[x*])?$/i;

const wrong = (reason: string): Failure =>
  new Failure('unprocessable', `422 Unprocessable Entity - ${reason}`);

export type Ref = { kind: 'tag' | 'branch'; name: string };

/** The version by which programs install what is at the ref; 422 for a tag that is no version. */
export function versionOf({ kind, name }: Ref): string {
  if (kind === 'tag') {
    if (name.length > MAX_LENGTH || !RELEASE.test(name)) throw wrong('the tag is not the name of a version');
    return name.replace(/^v/i, '');
  }
  const [, numbers] = NUMBERED_BRANCH.exec(name) ?? [];
  const version = numbers === undefined ? `dev-${name}` : `${numbers}.x-dev`;
  if (version.length > MAX_LENGTH) throw wrong('the name of the branch is too long');
  return version;
}

/** Bytes of a composer.json. */
export const MAX_DESCRIPTION = 65_536;

/** The name and the description of a composer.json; 422 for one that is none. */
export function descriptionOf(text: string): { name: string; description: RawObject } {
  let description: RawObject;
  try {
    description = parseJsonBody(text);
  } catch {
    throw wrong('composer.json is not a JSON object');
  }
  const { name } = description;
  if (typeof name !== 'string' || name.length > MAX_LENGTH || !NAME.test(name))
    throw wrong('composer.json: name is invalid');
  return { name, description };
}

/** The name of an address that ends so; undefined for what is none. */
export function nameIn(path: string, ending: string): string | undefined {
  const name = path.endsWith(ending) ? path.slice(0, -ending.length) : '';
  return name.length <= MAX_LENGTH && NAME.test(name) ? name : undefined;
}

export type PublishedVersion = {
  id: number;
  project_id: number;
  project_path: string;
  version: string;
  sha: string;
  description: Readonly<Record<string, unknown>>;
};

/** What programs read of all versions of a name. */
export const versionsDocument = (
  baseUrl: string,
  name: string,
  versions: readonly PublishedVersion[],
): string => {
  const described = versions.map(({ id, project_id, project_path, version, sha, description }) => [
    version,
    {
      ...description,
      name,
      version,
      uid: id,
      dist: {
        type: 'zip',
        url: `${baseUrl}/api/v4/projects/${project_id}/packages/composer/archives/${name}.zip?sha=${sha}`,
        reference: sha,
        shasum: '',
      },
      source: { type: 'git', url: `${baseUrl}/${project_path}.git`, reference: sha },
    },
  ]);
  return JSON.stringify({ packages: { [name]: Object.fromEntries(described) } });
};
