import { afterAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { takeMails } from '../../../../test/support/mails.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';
import { moveClock, now } from '../../../platform/clock.ts';
import { mornings } from './due-date-reminders.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('where it is morning', () => {
  const cases: [time: string, zones: string[], expected: { tomorrow: string; zones: string[] }[]][] = [
    [
      '2026-03-02T08:00:00Z',
      ['', 'Nowhere/None', 'Europe/London'],
      [{ tomorrow: '2026-03-03', zones: ['', 'Nowhere/None', 'Europe/London'] }],
    ],
    [
      '2026-03-02T07:00:00Z',
      ['', 'Europe/London', 'Europe/Berlin'],
      [{ tomorrow: '2026-03-03', zones: ['Europe/Berlin'] }],
    ],
    [
      '2026-07-02T06:00:00Z',
      ['Europe/Berlin', 'Europe/London'],
      [{ tomorrow: '2026-07-03', zones: ['Europe/Berlin'] }],
    ],
    ['2026-12-30T23:00:00Z', ['Asia/Tokyo', ''], [{ tomorrow: '2027-01-01', zones: ['Asia/Tokyo'] }]],
    ['2026-12-31T03:00:00Z', ['Asia/Kolkata'], [{ tomorrow: '2027-01-01', zones: ['Asia/Kolkata'] }]],
    [
      '2026-02-27T18:00:00Z',
      ['Pacific/Honolulu', 'Pacific/Kiritimati'],
      [
        { tomorrow: '2026-02-28', zones: ['Pacific/Honolulu'] },
        { tomorrow: '2026-03-01', zones: ['Pacific/Kiritimati'] },
      ],
    ],
    ['2026-03-02T12:00:00Z', ['', 'Europe/Berlin'], []],
  ];
  test.each(cases)('at %s', (time, zones, expected) => {
    expect(mornings(zones, new Date(time))).toEqual(expected);
  });

  test('each zone has one morning in each day, whatever its clock does', () => {
    const zones = [
      ...['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'],
      ...['Etc/GMT+12', 'Pacific/Kiritimati'],
    ];
    const start = Date.parse('2026-01-01T00:00:00Z');
    const found = Array.from({ length: 365 * 24 }, (_, hour) =>
      mornings(zones, new Date(start + hour * HOUR)),
    ).flat();
    for (const zone of zones) {
      const days = found.filter((each) => each.zones.includes(zone)).map(({ tomorrow }) => tomorrow);
      expect(new Set(days).size).toBe(days.length);
      expect(days).toHaveLength(365);
    }
  });
});

describe('what is due tomorrow', async () => {
  const smtp = await startSmtp(0);
  afterAll(() => smtp.stop());
  const app = useApp({ env: { SMTP_URL: smtp.url, ASHLAR_TIER: 'ultimate' } });

  /** Sets the clock to this time, and runs the task twice; returns the recipients. */
  async function sentAt(time: number): Promise<string[]> {
    const back = moveClock(time - now().getTime());
    const { sql } = app.app.services.database;
    for (let run = 0; run < 2; run++) {
      await sql`select graphile_worker.add_job('notifications.due')`;
      await waitForMail(app);
    }
    back();
    return takeMails(smtp).map(({ to }) => to.replace('@example.com', ''));
  }

  test('is told to each once, at eight where they are, and made up for when nothing ran then', async () => {
    const { sql } = app.app.services.database;
    const project = await makeProject(app);
    // Users in more zones than one slice has.
    await sql`
      insert into users (username, name, email, confirmed_at, timezone, projects_limit, can_create_group, created_at, updated_at)
      select 'zone-' || i, zone, 'zone-' || i || '@example.com', now(), zone, 0, false, now(), now()
      from unnest(${Intl.supportedValuesOf('timeZone')}::text[]) with ordinality as z(zone, i)`;
    const inZone = async (timezone: string | null): Promise<MadeUser> => {
      const user = await makeUser(app);
      await addMember(app, `projects/${project.id}`, user, 30);
      await sql`update users set timezone = ${timezone} where id = ${user.id}`;
      return user;
    };
    const [tokyo, kolkata, nowhere, phoenix] = [
      await inZone('Asia/Tokyo'),
      await inZone('Asia/Kolkata'),
      await inZone(null),
      await inZone('America/Phoenix'),
    ];
    const start = Math.floor(now().getTime() / DAY) * DAY + 5 * DAY;
    const due = new Date(start + 2 * DAY).toISOString().slice(0, 10);
    const assignee_ids = [tokyo, kolkata, nowhere, phoenix].map(({ id }) => id);
    const make = async (title: string, due_date: string): Promise<{ iid: number }> => {
      const body = { title, due_date, assignee_ids };
      return bodyOf(await app.root(`POST /projects/${project.id}/issues`, { body }), 201);
    };
    await make('Pay', due);
    await make('Later', new Date(start + 30 * DAY).toISOString().slice(0, 10));
    const closed = await make('Paid', due);
    const path = `PUT /projects/${project.id}/issues/${closed.iid}`;
    bodyOf(await app.root(path, { body: { state_event: 'close' } }), 200);
    await waitForMail(app);
    takeMails(smtp);

    expect(await sentAt(start + 22.5 * HOUR)).toEqual([]);
    expect(await sentAt(start + 23.1 * HOUR)).toEqual([tokyo.username]);
    expect(await sentAt(start + DAY + 2.9 * HOUR)).toEqual([]);
    expect(await sentAt(start + DAY + 6 * HOUR)).toEqual([kolkata.username]);
    // Root, the author, has no zone either.
    expect((await sentAt(start + DAY + 8 * HOUR)).sort()).toEqual(['admin', nowhere.username].sort());
    expect(await sentAt(start + DAY + 14.9 * HOUR)).toEqual([]);
    expect(await sentAt(start + DAY + 15 * HOUR)).toEqual([phoenix.username]);
    expect(await sentAt(start + DAY + 20 * HOUR)).toEqual([]);
  });
});
