/** What the site stands on, looked at for the page of its health. */
import { statfs } from 'node:fs/promises';
import { minuteText } from '../../kernel/api/admin-page.ts';
import type { Needs } from '../../kernel/services.ts';
import { pingDatabase } from '../../platform/db/database.ts';
import { examineServer, type Finding } from '../../platform/db/server-facts.ts';
import { workingProcesses } from '../../platform/jobs/job-metrics.ts';
import { countWaiting } from '../../platform/jobs/jobs.ts';
import { backupState } from '../backups/index.ts';

/** Checks that writes work: undefined when they do, else the problem (a full disk, a read-only database). */
export type WriteCheck = () => Promise<string | undefined>;

type LookServices = Needs<'database' | 'config' | 'baseUrl' | 'settings'>;

/** Looks at one thing; nothing where there is nothing to tell. */
type Look = (services: LookServices, deps: { checkWrites: WriteCheck }) => Promise<Finding[]>;

const database: Look = async ({ database: { sql } }) => {
  await pingDatabase(sql);
  return examineServer(sql);
};

const writes: Look = async (_, { checkWrites }) => {
  const problem = await checkWrites();
  return [
    problem === undefined
      ? { subject: 'writes', state: 'good', text: 'The disk and the database take them.' }
      : {
          subject: 'writes',
          state: 'wrong',
          text: problem,
          advice: 'Make room on the disk, or see why the database is read-only.',
        },
  ];
};

const GIBIBYTE = 1_073_741_824;
/** The program refuses writes below 64 MiB; people are told long before. */
const LOW_SHARE = 0.1;

/** The free space around a folder in words. */
export function judgeDisk(
  folder: string,
  { bavail, blocks, bsize }: { bavail: number; blocks: number; bsize: number },
): Finding {
  const gibibytes = (count: number): string => ((count * bsize) / GIBIBYTE).toFixed(1);
  const text = `${gibibytes(bavail)} of ${gibibytes(blocks)} GiB are free at ${folder}`;
  return bavail < blocks * LOW_SHARE
    ? {
        subject: 'disk',
        state: 'wrong',
        text,
        advice: 'Make room, or give it a larger disk: a full one refuses writes.',
      }
    : { subject: 'disk', state: 'good', text };
}

const disk: Look = async ({ config }) => {
  const folders = [...new Set([config.data, config.files, ...config.storages.values()])];
  const found = await Promise.all(
    folders.map(async (folder) => {
      // A storage is made with its first repository.
      const free = await statfs(folder).catch(() => undefined);
      return free && { ...free, folder };
    }),
  );
  // Folders of one disk are told once, by the first.
  const disks = new Map(
    found.reverse().flatMap((each) => (each ? [[`${each.bavail} ${each.blocks}`, each] as const] : [])),
  );
  return [...disks.values()].reverse().map((each) => judgeDisk(each.folder, each));
};

const work: Look = async ({ database: { db } }) => {
  const [waiting, processes] = await Promise.all([countWaiting(db), workingProcesses(db)]);
  const { jobs = 0, dead_jobs: dead = 0, outbox = 0 } = waiting ?? {};
  const text = `${jobs + outbox} waiting, ${dead} failed for good; processes at work: ${processes.length}`;
  return [
    dead === 0
      ? { subject: 'jobs', state: 'good', text }
      : { subject: 'jobs', state: 'wrong', text, advice: 'See why they failed, and try them again.' },
  ];
};

const mail: Look = async ({ config }) => [
  config.smtpUrl === undefined
    ? {
        ...{
          subject: 'mail',
          state: 'unknown',
          text: 'No mail server is set: mails become files in the data folder.',
        },
        advice: 'Name one in SMTP_URL.',
      }
    : { subject: 'mail', state: 'unknown', text: 'A mail server is set.', advice: 'Send a test mail.' },
];

const address: Look = async ({ config, baseUrl }) => [
  config.url === undefined
    ? {
        ...{
          subject: 'address',
          state: 'unknown',
          text: `Links in mails begin with ${baseUrl()}: ASHLAR_URL is not set.`,
        },
        advice: 'Set it to the address that people use.',
      }
    : { subject: 'address', state: 'good', text: config.url },
];

const maintenance: Look = async ({ settings }) =>
  (await settings.read()).maintenance_mode
    ? [
        {
          subject: 'maintenance',
          state: 'wrong',
          text: 'Writes are refused.',
          advice: 'End it when you are done.',
        },
      ]
    : [];

const backups: Look = async ({ config }) => {
  const state = await backupState(config);
  const subject = 'backup';
  if (state.is === 'unset')
    return [
      {
        ...{ subject, state: 'unknown', text: 'None is made by the clock.' },
        advice: 'Name a folder for them in ASHLAR_BACKUPS.',
      },
    ];
  if (state.is === 'none')
    return [{ subject, state: 'unknown', text: `There is none in ${config.backups} yet.` }];
  const text = `The last is of ${minuteText(state.at)}, with ${(state.bytes / GIBIBYTE).toFixed(2)} GiB.`;
  return [
    state.is === 'made'
      ? { subject, state: 'good', text }
      : { subject, state: 'wrong', text, advice: 'The log says why there is no later one.' },
  ];
};

/** In this order. */
const looks: readonly { subject: string; look: Look }[] = [
  { subject: 'database', look: database },
  { subject: 'writes', look: writes },
  { subject: 'disk', look: disk },
  { subject: 'backup', look: backups },
  { subject: 'jobs', look: work },
  { subject: 'mail', look: mail },
  { subject: 'address', look: address },
  { subject: 'maintenance', look: maintenance },
];

/** All findings; what cannot be looked at is one of them. */
export async function examineSite(
  services: LookServices & Needs<'log'>,
  deps: { checkWrites: WriteCheck },
): Promise<Finding[]> {
  const found = await Promise.all(
    looks.map(({ subject, look }) =>
      look(services, deps).catch((error: unknown): Finding[] => {
        services.log.error(`could not look at ${subject}`, error);
        return [{ subject, state: 'wrong', text: 'It does not answer.', advice: 'The log says why.' }];
      }),
    ),
  );
  return found.flat();
}
