/** The browser and system of a User-Agent header, in words that their owner knows. Pure. */

/** In this order: most browsers name several others before themselves. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac(intosh| OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Such as `Firefox on Windows`; another program's own name, or `Unknown browser`. */
export function describeUserAgent(header: string | null): string {
  const named = (names: typeof browsers) => names.find(([pattern]) => pattern.test(header ?? ''))?.[1];
  const browser = named(browsers);
  const system = named(systems);
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  const program = /^(?!Mozilla\/)([\w.-]{1,40})(?:\/([\w.-]{1,20}))?/.exec(header ?? '');
  if (program) return [program[1], program[2]].filter((part) => part !== undefined).join(' ');
  return system === undefined ? 'Unknown browser' : `Unknown browser on ${system}`;
}
