/** Writes docs/settings.md out of the table of settings in src/kernel/config.ts. */
import { type Setting, settings } from '../src/kernel/config.ts';

const shownDefault = (setting: Setting<unknown>): string => setting.otherwise ?? `\`${setting.default}\``;

const names = ({ name, lowerCase }: Setting<unknown>): string =>
  lowerCase ? `\`${name}\`, \`${name.toLowerCase()}\`` : `\`${name}\``;

const row = (setting: Setting<unknown>): string =>
  `| ${names(setting)} | ${shownDefault(setting)} | ${setting.doc} |`;

/** The text of docs/settings.md. */
export function renderSettingsDocs(): string {
  const all: Setting<unknown>[] = Object.values(settings);
  const secrets = all.filter(({ secret }) => secret).map(({ name }) => `\`${name}_FILE\``);
  return `# Settings

<!-- Generated from src/kernel/config.ts by \`npm run generate\`: change it there. -->

Settings are environment variables, read and checked once at start; all problems are reported together. An empty
variable counts as unset. An unknown variable whose name starts with \`ASHLAR_\` is a problem, so that a mistyped name
is noticed.

| Name | Default | Meaning |
|---|---|---|
${all.map(row).join('\n')}

A secret can be given in a file instead: ${secrets.join(', ')} name it. One newline at its end is left out.
`;
}
