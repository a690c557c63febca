/** The kinds of templates that this program has, each read with its first request. */
import { configurationTemplates } from '../ci/index.ts';
import { dockerfiles } from './dockerfiles.ts';
import type { LicenseSource } from './schema.ts';

export const textKinds = ['dockerfiles', 'gitignores', 'gitlab_ci_ymls'] as const;
export type TextKind = (typeof textKinds)[number];

/** Texts by name, in the order of the names. */
export async function templatesOf(kind: TextKind): Promise<ReadonlyMap<string, string>> {
  if (kind === 'dockerfiles') return dockerfiles;
  if (kind === 'gitlab_ci_ymls') return configurationTemplates;
  return gitignores();
}

let loadedGitignores: ReadonlyMap<string, string> | undefined;
async function gitignores(): Promise<ReadonlyMap<string, string>> {
  if (!loadedGitignores) {
    const { default: texts } = await import('./texts/gitignores.json', { with: { type: 'json' } });
    loadedGitignores = new Map(Object.entries(texts));
  }
  return loadedGitignores;
}

let loadedLicenses: ReadonlyMap<string, LicenseSource> | undefined;
export async function licenses(): Promise<ReadonlyMap<string, LicenseSource>> {
  if (!loadedLicenses) {
    const { default: all } = await import('./texts/licenses.json', { with: { type: 'json' } });
    loadedLicenses = new Map(all.map((each) => [each.key, each]));
  }
  return loadedLicenses;
}
