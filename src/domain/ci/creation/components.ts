/** Components: what their addresses name, and which version is meant. Pure. */

export type ComponentAddress = { project: string; name: string; version: string };

/** Of `HOST/GROUP/PROJECT/NAME@VERSION`, where it is of this host. */
export function componentAddress(address: string, host: string): ComponentAddress | undefined {
  const [, server = '', project = '', name = '', version = ''] =
    /^([^/@]+)\/([^@]+)\/([^/@]+)@(.+)$/.exec(address) ?? [];
  const isHere = version !== '' && server.toLowerCase() === host.toLowerCase() && project.includes('/');
  return isHere ? { project, name, version } : undefined;
}

/** Where a component may be in its project, in the order in which it is looked for. */
export const componentPaths = (name: string): string[] => [
  `templates/${name}.yml`,
  `templates/${name}/template.yml`,
];

/** A released version: no pre-release, with or without a `v`. */
const released = /^v?(0|[1-9]\d{0,9})\.(0|[1-9]\d{0,9})\.(0|[1-9]\d{0,9})(?:\+[\w.-]+)?$/;

/** Whether a version stands for the newest one of several: `~latest`, `1`, `1.2`. */
export const isShorthand = (version: string): boolean =>
  version === '~latest' || /^v?\d{1,10}(\.\d{1,10})?$/.test(version);

export type Version = { tag: string; numbers: readonly number[] };

/** The tags that are released versions, the newest first. */
export const versionsOf = (tags: readonly string[]): Version[] =>
  tags
    .flatMap((tag) => {
      const found = released.exec(tag);
      return found ? { tag, numbers: found.slice(1, 4).map(Number) } : [];
    })
    .toSorted((one, other) => {
      const differing = one.numbers.findIndex((number, index) => number !== other.numbers[index]);
      return differing === -1 ? 0 : (other.numbers[differing] ?? 0) - (one.numbers[differing] ?? 0);
    });

/** The tags of the versions for which the shorthand stands, in their order. */
export function versionsFor(shorthand: string, versions: readonly Version[]): string[] {
  const wanted = shorthand === '~latest' ? [] : shorthand.replace(/^v/, '').split('.').map(Number);
  return versions
    .filter(({ numbers }) => wanted.every((number, index) => number === numbers[index]))
    .map(({ tag }) => tag);
}
