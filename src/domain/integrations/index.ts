/** Integrations with other services: chats, issue trackers, mail. */
export { integrationsCapability } from './capability.ts';
export { type OutsidePage, readOutsidePages } from './references/outside-pages.ts';
