/** What programs of Ruby read of gems: as Ruby writes its values, and as texts (the compact index). Pure. */
import { startDigest } from '../../../platform/secret.ts';
import * as ruby from './marshal.ts';
import { compareSegments, type Gem, isPrerelease, numberOf, type Requirement, segmentsOf } from './rules.ts';

export type IndexedGem = { name: string; sha256: Buffer; created_at: Date; gem: Gem };

const version = (text: string): Buffer => ruby.loaded('Gem::Version', ruby.array([ruby.text(text)]));

/** Any version, where none is asked for. */
const ANY: Requirement = [['>=', '0']];
const orAny = (requirement: Requirement): Requirement => (requirement.length === 0 ? ANY : requirement);
const requirementText = (requirement: Requirement, between: string): string =>
  orAny(requirement)
    .map(([operator, number]) => `${operator} ${number}`)
    .join(between);
const rubyRequirement = (requirement: Requirement): Buffer =>
  ruby.loaded(
    'Gem::Requirement',
    ruby.array([
      ruby.array(
        orAny(requirement).map(([operator, number]) => ruby.array([ruby.text(operator), version(number)])),
      ),
    ]),
  );

const systems: readonly (readonly [RegExp, string])[] = [
  [/^linux-?(.*)$/, 'linux'],
  [/^darwin-?(.*)$/, 'darwin'],
  [/^mingw32$/, 'mingw32'],
  [/^mingw-?(.*)$/, 'mingw'],
  [/^freebsd-?(.*)$/, 'freebsd'],
];

/** A platform as the program takes it apart. */
function platformOf(platform: string): Buffer {
  if (platform === 'ruby') return ruby.text(platform);
  const [first = '', ...rest] = platform.split('-');
  const cpu = rest.length === 0 ? ruby.nil : ruby.text(/^i\d86$/.test(first) ? 'x86' : first);
  const text = rest.length === 0 ? first : rest.join('-');
  const known = systems.find(([pattern]) => pattern.test(text));
  const number = known?.[0].exec(text)?.[1];
  return ruby.object('Gem::Platform', {
    '@cpu': cpu,
    '@os': ruby.text(known?.[1] ?? text),
    '@version': number ? ruby.text(number) : ruby.nil,
  });
}

const texts = (items: readonly string[]): Buffer => ruby.array(items.map(ruby.text));
const optional = (item: string | undefined): Buffer => (item === undefined ? ruby.nil : ruby.text(item));

const SPECIFICATION_VERSION = 4;

/** The specification of a gem, in the order of its fields. */
export function specification({ gem, created_at }: IndexedGem): Buffer {
  const dependencies = gem.dependencies.map(({ name, development, requirement }) =>
    ruby.object('Gem::Dependency', {
      '@name': ruby.text(name),
      '@requirement': rubyRequirement(requirement),
      '@type': ruby.symbol(development ? 'development' : 'runtime'),
      '@prerelease': ruby.no,
      '@version_requirements': rubyRequirement(requirement),
    }),
  );
  const fields = [
    ruby.text('3.0.0'),
    ruby.number(SPECIFICATION_VERSION),
    ruby.text(gem.name),
    version(gem.version),
    ruby.text(created_at.toISOString().slice(0, 10)),
    ruby.text(gem.summary ?? ''),
    rubyRequirement(gem.requiredRuby),
    rubyRequirement(gem.requiredRubygems),
    ruby.text(gem.platform),
    ruby.array(dependencies),
    ruby.text(''),
    texts(gem.email),
    texts(gem.authors),
    optional(gem.description),
    optional(gem.homepage),
    ruby.yes,
    platformOf(gem.platform),
    texts(gem.licenses),
    ruby.hash(Object.entries(gem.metadata).map(([key, value]) => [ruby.text(key), ruby.text(value)])),
  ];
  return ruby.dump(ruby.packed('Gem::Specification', ruby.dump(ruby.array(fields))));
}

/** By name, in which programs search by halves, then the oldest first. */
const inOrder = (gems: readonly IndexedGem[]): IndexedGem[] =>
  gems
    .map((each) => ({ each, name: each.gem.name, segments: segmentsOf(each.gem.version) }))
    .sort((one, other) =>
      one.name === other.name
        ? compareSegments(one.segments, other.segments)
        : one.name < other.name
          ? -1
          : 1,
    )
    .map(({ each }) => each);

export type SpecsKind = 'specs' | 'latest_specs' | 'prerelease_specs';

/** Names, versions and platforms: of releases, of the newest release of each platform, or of what comes before releases. */
export function specsDocument(gems: readonly IndexedGem[], kind: SpecsKind): Buffer {
  const kept = gems.filter(({ gem }) => isPrerelease(gem.version) === (kind === 'prerelease_specs'));
  const listed = inOrder(kept);
  const newest = new Map(listed.map((each) => [`${each.gem.name} ${each.gem.platform}`, each]));
  return ruby.dump(
    ruby.array(
      (kind === 'latest_specs' ? inOrder([...newest.values()]) : listed).map(({ gem }) =>
        ruby.array([ruby.text(gem.name), version(gem.version), ruby.text(gem.platform)]),
      ),
    ),
  );
}

const runtime = ({ dependencies }: Gem) => dependencies.filter(({ development }) => !development);

/** The versions of gems, with what they need. */
export const dependenciesDocument = (gems: readonly IndexedGem[]): Buffer =>
  ruby.dump(
    ruby.array(
      gems.map(({ gem }) =>
        ruby.hash([
          [ruby.symbol('name'), ruby.text(gem.name)],
          [ruby.symbol('number'), ruby.text(gem.version)],
          [ruby.symbol('platform'), ruby.text(gem.platform)],
          [
            ruby.symbol('dependencies'),
            ruby.array(
              runtime(gem).map(({ name, requirement }) =>
                ruby.array([ruby.text(name), ruby.text(requirementText(requirement, ', '))]),
              ),
            ),
          ],
        ]),
      ),
    ),
  );

/** The versions of one name, the oldest first. */
export const infoText = (gems: readonly IndexedGem[]): string =>
  `---\n${inOrder(gems)
    .map(({ gem, sha256 }) => {
      const needed = runtime(gem)
        .map(({ name, requirement }) => `${name}:${requirementText(requirement, '&')}`)
        .join(',');
      const about = [
        `checksum:${sha256.toString('hex')}`,
        ...(gem.requiredRuby.length > 0 ? [`ruby:${requirementText(gem.requiredRuby, '&')}`] : []),
        ...(gem.requiredRubygems.length > 0
          ? [`rubygems:${requirementText(gem.requiredRubygems, '&')}`]
          : []),
      ];
      return `${numberOf(gem)} ${needed}|${about.join(',')}\n`;
    })
    .join('')}`;

const byName = (gems: readonly IndexedGem[]) => Map.groupBy(inOrder(gems), ({ gem }) => gem.name);

export const namesText = (gems: readonly IndexedGem[]): string =>
  `---\n${[...byName(gems).keys()].map((name) => `${name}\n`).join('')}`;

/** All names with their versions, and the digest of what is said of each. It is of the time of the newest gem. */
export function versionsText(gems: readonly IndexedGem[]): string {
  const time = new Date(Math.max(0, ...gems.map(({ created_at }) => created_at.getTime())));
  const lines = [...byName(gems)].map(([name, each]) => {
    const numbers = each.map(({ gem }) => numberOf(gem));
    return `${name} ${numbers.join(',')} ${startDigest('md5').update(infoText(each)).digest('hex')}\n`;
  });
  return `created_at: ${time.toISOString()}\n---\n${lines.join('')}`;
}
