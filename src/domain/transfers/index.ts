/** Moving in and out: archives of projects and groups. */
export { transfersCapability } from './capability.ts';
