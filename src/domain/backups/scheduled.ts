/** Backups by the clock: another process makes each, which gives way to requests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Needs } from '../../kernel/services.ts';
import { packageFolder } from '../../package.ts';

export type ScheduledBackups = {
  /** Begins one, unless one runs. */
  begin(): void;
  stop(): Promise<void>;
};

export function createScheduledBackups({ config, log }: Needs<'config' | 'log'>): ScheduledBackups {
  let running: { child: ChildProcess; ended: Promise<void> } | undefined;

  function start(folder: string): void {
    const args = [
      join(packageFolder, 'bin', 'ashlar.js'),
      ...['backup', folder, '--keep', String(config.backupsKept)],
      ...config.backupRecipients.flatMap((recipient) => ['--recipient', recipient]),
    ];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const told: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => told.push(line.slice(0, 1_000)));
    const ended = new Promise<void>((resolve) => {
      child.once('error', (error) => {
        log.error('a backup could not begin', error);
        resolve();
      });
      child.once('close', (code, signal) => {
        const last = told.slice(-20).join('\n');
        if (code === 0) log.info('a backup was made', { told: last });
        else log.error('a backup failed', new Error(last || `it ended by ${signal ?? code}`));
        resolve();
      });
    }).finally(() => {
      running = undefined;
    });
    running = { child, ended };
  }

  return {
    begin() {
      if (config.backups !== undefined && !running) start(config.backups);
    },
    async stop() {
      running?.child.kill('SIGTERM');
      await running?.ended;
    },
  };
}
