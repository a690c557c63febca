/** Every capability that is mounted, by name. */

import { accountsCapability, userSearch } from './domain/accounts/index.ts';
import { alertsCapability } from './domain/alerts/index.ts';
import { auditCapability } from './domain/audit/index.ts';
import { backupsCapability } from './domain/backups/index.ts';
import { badgesCapability } from './domain/badges/index.ts';
import { boardsCapability } from './domain/boards/index.ts';
import { changelogsCapability } from './domain/changelogs/index.ts';
import { ciCapability } from './domain/ci/index.ts';
import { conversationCapability, noteSearch, todosCapability } from './domain/conversation/index.ts';
import { deployKeysCapability } from './domain/deploy-keys/index.ts';
import { errorTrackingCapability } from './domain/error-tracking/index.ts';
import { featureFlagsCapability } from './domain/feature-flags/index.ts';
import { activityCapability } from './domain/feed/index.ts';
import { geoCapability } from './domain/geo/index.ts';
import { hooksCapability } from './domain/hooks/index.ts';
import { instanceCapability } from './domain/instance/index.ts';
import { integrationsCapability } from './domain/integrations/index.ts';
import { lfsCapability } from './domain/lfs/index.ts';
import { managedLicensesCapability } from './domain/managed-licenses/index.ts';
import { markdownCapability } from './domain/markdown/index.ts';
import { mergeRequestSearch, mergeRequestsCapability } from './domain/merge-requests/index.ts';
import { mirrorsCapability } from './domain/mirrors/index.ts';
import {
  customAttributesCapability,
  groupsCapability,
  memberRolesCapability,
  membersCapability,
  movableProjects,
  projectSearch,
  projectsCapability,
  seatsCapability,
  topicsCapability,
} from './domain/namespaces/index.ts';
import { mailCapability, notificationsCapability } from './domain/notifications/index.ts';
import { oauthCapability } from './domain/oauth/index.ts';
import { packagesCapability } from './domain/packages/index.ts';
import { pagesCapability } from './domain/pages/index.ts';
import { labelsCapability, milestoneSearch, milestonesCapability } from './domain/planning/index.ts';
import { registryCapability } from './domain/registry/index.ts';
import { releasesCapability } from './domain/releases/index.ts';
import {
  commitSearch,
  fileSearch,
  gitAccess,
  gitHttpCapability,
  housekeepingCapability,
  protectedRefsCapability,
  pushRulesCapability,
  repositoriesCapability,
  storageMovesCapability,
} from './domain/repositories/index.ts';
import { type SearchScopes, searchCapability } from './domain/search/index.ts';
import { settingsCapability } from './domain/settings/index.ts';
import { signInCapability } from './domain/sign-in/index.ts';
import { movableSnippets, snippetSearch, snippetsCapability } from './domain/snippets/index.ts';
import { spamCapability } from './domain/spam/index.ts';
import { templatesCapability } from './domain/templates/index.ts';
import { terraformStatesCapability } from './domain/terraform-states/index.ts';
import { tokensCapability } from './domain/tokens/index.ts';
import { transfersCapability } from './domain/transfers/index.ts';
import { uploadsCapability } from './domain/uploads/index.ts';
import { movableGroupWikis, wikiSearch, wikisCapability } from './domain/wikis/index.ts';
import { epicsCapability, issueSearch, issuesCapability } from './domain/work-items/index.ts';
import type { Capability } from './kernel/capability.ts';
import type { Services } from './kernel/services.ts';

/** The kinds of containers that move between storages. */
export const movableContainers = [movableProjects, movableSnippets, movableGroupWikis] as const;

/** A result is written as the first of their records that it fits: none has all that one before it requires. */
const searchScopes: SearchScopes = {
  issues: issueSearch,
  merge_requests: mergeRequestSearch,
  projects: projectSearch,
  milestones: milestoneSearch,
  snippet_titles: snippetSearch,
  notes: noteSearch,
  commits: commitSearch,
  blobs: fileSearch,
  wiki_blobs: wikiSearch,
  users: userSearch,
};

export const capabilities = (services: Services): Capability[] => {
  const all: Capability[] = [
    accountsCapability(services, () => all),
    customAttributesCapability(),
    groupsCapability(services, () => all),
    memberRolesCapability(services),
    membersCapability(services),
    projectsCapability(),
    seatsCapability(),
    topicsCapability(services),
    repositoriesCapability(),
    gitHttpCapability(services),
    lfsCapability(services, gitAccess),
    protectedRefsCapability(),
    pushRulesCapability(),
    deployKeysCapability(),
    housekeepingCapability(services),
    wikisCapability(services),
    snippetsCapability(services),
    conversationCapability(services),
    spamCapability(services),
    storageMovesCapability(services, movableContainers),
    searchCapability(searchScopes),
    todosCapability(),
    markdownCapability(),
    uploadsCapability(services),
    issuesCapability(services),
    mergeRequestsCapability(services),
    alertsCapability(services),
    errorTrackingCapability(services),
    labelsCapability(),
    milestonesCapability(),
    epicsCapability(services),
    auditCapability(),
    instanceCapability(services),
    templatesCapability(),
    activityCapability(services),
    featureFlagsCapability(),
    badgesCapability(),
    changelogsCapability(),
    boardsCapability(),
    ciCapability(services),
    packagesCapability(services),
    terraformStatesCapability(),
    registryCapability(services),
    transfersCapability(services),
    releasesCapability(services),
    hooksCapability(services),
    integrationsCapability(services),
    mirrorsCapability(services),
    geoCapability(),
    managedLicensesCapability(),
    settingsCapability(services),
    tokensCapability(services),
    oauthCapability(services),
    signInCapability(services),
    backupsCapability(services),
    mailCapability(services),
    pagesCapability(),
    notificationsCapability(services),
  ];
  return all;
};
