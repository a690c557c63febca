/** The figures of the activity: the newest page of a project with very many events beside one with few. */
import { join } from 'node:path';
import { makeFolder, type Program, startProgram } from '../test/journeys/support.ts';
import { BUSY_PROJECT, MEMBER_TOKEN, makeManyEvents } from './many-events.ts';
import { compareLatency } from './measure.ts';
import type { Figure } from './table.ts';

const LESS = 5_000;
const MORE = 5_000_000;
const MOST = 1.2;
const REQUESTS = 300;

async function programWith(events: number): Promise<Program> {
  const data = join(makeFolder(), 'data');
  await (await startProgram({ data })).stop();
  await makeManyEvents(data, events);
  const program = await startProgram({ data });
  await program.root('PUT /application/settings', {
    throttle_authenticated_api_enabled: false,
    throttle_unauthenticated_api_enabled: false,
  });
  return program;
}

/** The newest page of 5,000,000 events beside that of 5,000, for a member and for an anonymous caller. */
export async function measureEvents(): Promise<Figure[]> {
  const [less, more] = [await programWith(LESS), await programWith(MORE)];
  const path = `/api/v4/projects/${encodeURIComponent(BUSY_PROJECT)}/events`;
  const figures: Figure[] = [];
  for (const [who, headers] of [
    ['a member', { 'private-token': MEMBER_TOKEN }],
    ['nobody', {}],
  ] as const) {
    const { subject, baseline, ratio } = await compareLatency(
      { url: `${more.url}${path}`, headers },
      { url: `${less.url}${path}`, headers },
      REQUESTS,
    );
    figures.push({
      what: `newest events of a project with 5,000,000, as ${who}`,
      value: `${subject.toFixed(2)} ms`,
      baseline: `${baseline.toFixed(2)} ms (of 5,000)`,
      result: `${ratio.toFixed(2)}×`,
      target: `≤ ${MOST}×`,
      met: ratio <= MOST,
    });
  }
  await Promise.all([less.stop(), more.stop()]);
  return figures;
}
