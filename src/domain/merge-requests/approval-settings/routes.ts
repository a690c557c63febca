/** Settings of approvals: a project's configuration, and its and its group's settings with their locks. */
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { updateSettings } from './actions.ts';
import {
  configurationNames,
  configuredSettings,
  presentConfiguration,
  presentStates,
  settingsOf,
} from './present.ts';
import { selectApprovalsBeforeMerge, selectSettings } from './queries.ts';
import { Configuration, ConfigurationInput, SettingInput, SettingStates } from './schema.ts';

const configuration = '/projects/:id/approvals';

const statesOf = (
  word: 'project' | 'group',
  read: Access<ResourceParent, Actor>,
  manage: Access<ResourceParent, Actor>,
): Endpoint[] => {
  const path = `/${word}s/:id/merge_request_approval_setting`;
  const ofWhat = word === 'project' ? 'a project' : 'a group for its projects';
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `Settings of approvals of ${ofWhat}, and who locked them.`,
      tier: 'premium',
      access: read,
      reply: SettingStates,
      handle: async ({ db, settings, subject }) => presentStates(await selectSettings(db, settings, subject)),
    }),
    endpoint({
      method: 'PUT',
      path,
      summary: `Changes settings of approvals of ${ofWhat}; 400 for those that are locked.`,
      tier: 'premium',
      access: manage,
      input: SettingInput,
      reply: SettingStates,
      handle: async ({ db, settings, actor, subject, input }) => {
        await updateSettings(db, actor, settings, subject, { settings: settingsOf(input) });
        return presentStates(await selectSettings(db, settings, subject));
      },
    }),
  ];
};

export const approvalSettingEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: configuration,
    summary: 'How merge requests of a project are approved.',
    tier: 'premium',
    access: onProject('read_approval_settings'),
    reply: Configuration,
    handle: async ({ db, settings, subject }) =>
      presentConfiguration(
        await selectSettings(db, settings, subject),
        await selectApprovalsBeforeMerge(db, subject.id),
      ),
  }),
  endpoint({
    method: 'POST',
    path: configuration,
    summary: 'Changes how merge requests of a project are approved; 400 for what is locked.',
    tier: 'premium',
    access: onProject('manage_approvals'),
    input: ConfigurationInput,
    reply: Configuration,
    handle: async ({ db, settings, actor, subject, input }) => {
      await updateSettings(db, actor, settings, subject, {
        settings: configuredSettings(input),
        approvalsBeforeMerge: input.approvals_before_merge,
        names: configurationNames,
      });
      return presentConfiguration(
        await selectSettings(db, settings, subject),
        await selectApprovalsBeforeMerge(db, subject.id),
      );
    },
  }),
  ...statesOf('project', onProject('read_approval_settings'), onProject('manage_approvals')),
  ...statesOf('group', onGroup('read_approvals'), onGroup('manage_approvals')),
];
