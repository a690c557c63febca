/** Integrations with other services: chats, issue trackers, mail. */
export { integrationsCapability } from './capability.ts';
export { readOutsidePages } from './references/outside-pages.ts';
