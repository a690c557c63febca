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

const numbersOf = (tag: string): number[] => (released.exec(tag) ?? []).slice(1, 4).map(Number);

/** Whether a version stands for the newest one of several: `~latest`, `1`, `1.2`. */
export const isShorthand = (version: string): boolean =>
  version === '~latest' || /^v?\d{1,10}(\.\d{1,10})?$/.test(version);

/** The tags of versions for which the shorthand stands, the newest first. */
export function versionsFor(shorthand: string, tags: readonly string[]): string[] {
  const wanted = shorthand === '~latest' ? [] : shorthand.replace(/^v/, '').split('.').map(Number);
  return tags
    .filter((tag) => {
      const numbers = numbersOf(tag);
      return numbers.length > 0 && wanted.every((number, index) => number === numbers[index]);
    })
    .toSorted((one, other) => {
      const [ofOne, ofOther] = [numbersOf(one), numbersOf(other)];
      const differing = ofOne.findIndex((number, index) => number !== ofOther[index]);
      return differing === -1 ? 0 : (ofOther[differing] ?? 0) - (ofOne[differing] ?? 0);
    });
}
