/** Every capability that is mounted, by name. */
import type { Capability } from './core/capability.ts';
import type { Services } from './core/services.ts';
import { accountsCapability } from './domain/accounts/index.ts';
import { activityCapability } from './domain/activity/index.ts';
import { alertsCapability } from './domain/alerts/index.ts';
import { auditCapability } from './domain/audit/index.ts';
import { conversationCapability } from './domain/conversation/index.ts';
import { customAttributesCapability } from './domain/custom-attributes/index.ts';
import { deployKeysCapability } from './domain/deploy-keys/index.ts';
import { epicsCapability } from './domain/epics/index.ts';
import { errorTrackingCapability } from './domain/error-tracking/index.ts';
import { featureFlagsCapability } from './domain/feature-flags/index.ts';
import { gitHttpCapability } from './domain/git-http/index.ts';
import { groupsCapability } from './domain/groups/index.ts';
import { housekeepingCapability } from './domain/housekeeping/index.ts';
import { issuesCapability } from './domain/issues/index.ts';
import { labelsCapability } from './domain/labels/index.ts';
import { mailCapability } from './domain/mail/index.ts';
import { markdownCapability } from './domain/markdown/index.ts';
import { membersCapability } from './domain/members/index.ts';
import { milestonesCapability } from './domain/milestones/index.ts';
import { notificationsCapability } from './domain/notifications/index.ts';
import { oauthCapability } from './domain/oauth/index.ts';
import { pagesCapability } from './domain/pages/index.ts';
import { movableProjects, projectsCapability } from './domain/projects/index.ts';
import { protectedRefsCapability } from './domain/protected-refs/index.ts';
import { repositoriesCapability } from './domain/repositories/index.ts';
import { searchCapability } from './domain/search/index.ts';
import { settingsCapability } from './domain/settings/index.ts';
import { signInCapability } from './domain/sign-in/index.ts';
import { movableSnippets, snippetsCapability } from './domain/snippets/index.ts';
import { spamCapability } from './domain/spam/index.ts';
import { storageMovesCapability } from './domain/storage-moves/index.ts';
import { todosCapability } from './domain/todos/index.ts';
import { tokensCapability } from './domain/tokens/index.ts';
import { topicsCapability } from './domain/topics/index.ts';
import { uploadsCapability } from './domain/uploads/index.ts';
import { movableGroupWikis, wikisCapability } from './domain/wikis/index.ts';

/** The kinds of containers that move between storages. */
export const movableContainers = [movableProjects, movableSnippets, movableGroupWikis] as const;

export const capabilities = (services: Services): Capability[] => {
  const all: Capability[] = [
    accountsCapability(services, () => all),
    customAttributesCapability(),
    groupsCapability(services, () => all),
    membersCapability(services),
    projectsCapability(),
    topicsCapability(services),
    repositoriesCapability(services),
    gitHttpCapability(services),
    protectedRefsCapability(),
    deployKeysCapability(),
    housekeepingCapability(services),
    wikisCapability(services),
    snippetsCapability(services),
    conversationCapability(services),
    spamCapability(services),
    storageMovesCapability(services, movableContainers),
    searchCapability(),
    todosCapability(),
    markdownCapability(),
    uploadsCapability(services),
    issuesCapability(),
    alertsCapability(services),
    errorTrackingCapability(services),
    labelsCapability(),
    milestonesCapability(),
    epicsCapability(),
    auditCapability(),
    activityCapability(services),
    featureFlagsCapability(),
    settingsCapability(),
    tokensCapability(services),
    oauthCapability(services),
    signInCapability(services),
    mailCapability(services),
    pagesCapability(services, () => all),
    notificationsCapability(services),
  ];
  return all;
};
