/** Integrations with other services: chats. */
export { integrationsCapability } from './capability.ts';
