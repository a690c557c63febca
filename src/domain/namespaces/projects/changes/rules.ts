/** Decisions about projects, as pure functions: names and paths, visibility, and older names of settings. */

import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import type { Config } from '../../../../kernel/config.ts';
import {
  type ProjectSettings,
  ProjectSettingsSchema,
  withoutPremium,
} from '../../../../kernel/namespaces/project-settings.ts';
import {
  type ProjectCreationLevel,
  roleMayCreateProjects,
} from '../../../../kernel/policy/project-creation.ts';
import { isRefName } from '../../../../platform/git/names.ts';
import { NAME } from './names.ts';
import type { CreateProject, UpdateProject } from './schema.ts';

/** A path out of a name: other characters than letters, digits, `_`, `-` and `.` become a dash. */
export const pathFromName = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[-_.]+|(?<![-_.])[-_.]+$/g, '')
    .toLowerCase();

/** Messages for a name, or undefined. */
export function nameProblems(name: string): string[] | undefined {
  if (name.trim() === '') return ["can't be blank"];
  if (!NAME.test(name)) {
    return [
      "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'.",
    ];
  }
  return undefined;
}

/**
 * What a project cannot be made from, and what does not exist: refused by name, since a project that stays empty,
 * or a setting that nothing obeys, would not explain itself.
 */
export function unsupportedProblems(input: Unsupported): Record<string, string[] | undefined> {
  const train = ['is not supported'];
  const template = ['is not supported yet: leave it out and push the files to the project'];
  return {
    template_name: input.template_name ? template : undefined,
    template_project_id: input.template_project_id === undefined ? undefined : template,
    use_custom_template: input.use_custom_template ? template : undefined,
    merge_pipelines_enabled: input.merge_pipelines_enabled ? train : undefined,
    merge_trains_enabled: input.merge_trains_enabled ? train : undefined,
    merge_trains_skip_train_allowed: input.merge_trains_skip_train_allowed ? train : undefined,
  };
}

type Unsupported = Pick<
  UpdateProject,
  'merge_pipelines_enabled' | 'merge_trains_enabled' | 'merge_trains_skip_train_allowed'
> &
  Partial<Pick<CreateProject, 'template_name' | 'template_project_id' | 'use_custom_template'>>;

/** Messages for a storage that the program does not have, or undefined. */
export const storageProblems = (
  { names }: { names: readonly string[] },
  storage: string | undefined,
): string[] | undefined => (storage === undefined || names.includes(storage) ? undefined : ['is invalid']);

/** Messages for a default branch, or undefined. */
export const branchNameProblems = (name: string | undefined): string[] | undefined =>
  name === undefined || isRefName(name) ? undefined : ['is not a valid branch name'];

/**
 * The visibility of a new project: the requested one, else the instance's default as far as the namespace
 * allows.
 */
export const initialVisibility = (
  requested: number | undefined,
  fallback: number,
  namespace: number,
): number => requested ?? Math.min(fallback, namespace);

/** Messages for a visibility, or undefined: above the group's or the fork's source, or restricted by the administrator. */
export function visibilityProblems(level: {
  asked: number;
  name: string;
  namespace: { kind: 'user' | 'group'; visibility: number };
  /** The level of the project that it is a fork of. */
  forkSource?: number | undefined;
  restricted: readonly string[];
  admin: boolean;
}): string[] | undefined {
  const { asked: requested, name, namespace, forkSource, restricted, admin } = level;
  if (!admin && restricted.includes(name)) return [`${name} has been restricted by your administrator`];
  if (namespace.kind === 'group' && requested > namespace.visibility)
    return [`${name} is not allowed since the parent group has a lower visibility`];
  if (forkSource !== undefined && requested > forkSource)
    return [`${name} is not allowed since the fork source project has lower visibility.`];
  return undefined;
}

const featureAliases = {
  issues_enabled: 'issues_access_level',
  merge_requests_enabled: 'merge_requests_access_level',
  wiki_enabled: 'wiki_access_level',
  jobs_enabled: 'builds_access_level',
  snippets_enabled: 'snippets_access_level',
  container_registry_enabled: 'container_registry_access_level',
  packages_enabled: 'package_registry_access_level',
} as const;

/** The settings that a request changes, older names read as the current ones; the current name wins (spec: Versioning). */
export function changedSettings(
  input: UpdateProject,
  { tier }: Pick<Config, 'tier'>,
): Partial<ProjectSettings> {
  const changes: Record<string, unknown> = {};
  for (const [alias, name] of Object.entries(featureAliases)) {
    const value = input[alias as keyof typeof featureAliases];
    if (value !== undefined) changes[name] = value ? 'enabled' : 'disabled';
  }
  if (input.emails_disabled !== undefined) changes.emails_enabled = !input.emails_disabled;
  if (input.public_builds !== undefined) changes.public_jobs = input.public_builds;
  if (input.restrict_user_defined_variables !== undefined) {
    changes.ci_pipeline_variables_minimum_override_role = input.restrict_user_defined_variables
      ? 'maintainer'
      : 'developer';
  }
  for (const name of Object.keys(ProjectSettingsSchema.properties)) {
    const value = input[name as keyof typeof ProjectSettingsSchema.properties];
    if (value !== undefined) changes[name] = value;
  }
  // Each name above is a setting's, and its schema decoded the value.
  const settings = changes as Partial<ProjectSettings>;
  return tier === 'free' ? withoutPremium(settings) : settings;
}

/** Whether the actor may create projects in the group, which must not be archived. */
export function mayCreateProjects(actor: Actor, group: AuthorizedGroup): boolean {
  // The group's own capability writes the settings, from values of this type.
  const { project_creation_level: level } = group.row.settings as {
    project_creation_level?: ProjectCreationLevel;
  };
  return group.may('create_projects') && roleMayCreateProjects(level ?? 'developer', group.role, actor.admin);
}
