/** No migration since the last release holds up those who use a large table. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { migrationsFolder } from '../../src/instance.ts';
import { connect } from '../../src/platform/db/database.ts';
import { lastMigration } from './fixture.ts';
import { examine } from './locks.ts';
import { onReleased } from './released.ts';

/** What it has is released, and stays as it is. */
const RELEASED = '0.1.0';
const options = { max: 2, statementTimeout: 0, name: 'tests' };
const newer = (release: string): string[] =>
  readdirSync(migrationsFolder)
    .filter((file) => file.endsWith('.sql') && file > `${lastMigration(release)}.sql`)
    .sort();
const textOf = (file: string): string => readFileSync(join(migrationsFolder, file), 'utf8');

test('what came after the release locks no large table for long', () =>
  onReleased(RELEASED, async (target) => {
    const sql = connect(target, options);
    try {
      for (const file of newer(RELEASED))
        expect(await examine(sql, file.replace('.sql', ''), textOf(file))).toEqual([]);
    } finally {
      await sql.end();
    }
  }));

const outside = (text: string): string => `-- outside a transaction\n${text}`;

test.each([
  [
    'create index x on issues (title)',
    /^0100_x: create index .* builds an index on public.issues: `create index concurrently`/,
  ],
  ['create unique index x on issues (id, title)', /builds an index on public.issues/],
  [
    'alter table issues add column x bigint default (random() * 10)',
    /writes anew public.issues: add a column without/,
  ],
  ['alter table issues alter column weight type numeric', /writes anew public.issues/],
  [
    'alter table issues add constraint x check (id > 0)',
    /with public.issues locked reads all of public.issues: add the constraint `not valid`/,
  ],
  [
    'alter table issues alter column title set not null, add constraint x check (title <> $$a$$)',
    /reads all of public.issues/,
  ],
  [
    'alter table issues add column x bigint references users (id) ; update issues set x = 1',
    /changes at once all of public.issues: change it by batches/,
  ],
  ["update issues set title = title || 'x'", /changes at once all of public.issues/],
  ['delete from notes where body is not null', /changes at once all of public.notes/],
  [
    'alter table issues add column x text; create table y as select * from notes',
    /with public.issues locked reads all of public.notes/,
  ],
  [outside('alter table issues alter column weight set not null;'), /reads all of public.issues/],
] as [string, RegExp][])('%s is refused', (text, problem) =>
  onReleased(RELEASED, async (target) => {
    const sql = connect(target, options);
    try {
      await sql.unsafe('update issues set weight = 1 where weight is null');
      expect((await examine(sql, '0100_x', text)).join('\n')).toMatch(problem);
    } finally {
      await sql.end();
    }
  }),
);

test('what is quick, small, new, or beside others is not', () =>
  onReleased(RELEASED, async (target) => {
    const sql = connect(target, options);
    try {
      for (const text of [
        'alter table issues add column x1 bigint',
        'alter table issues add column x2 bigint not null default 7',
        'alter table issues add constraint x3 check (id > 0) not valid',
        'alter table issues drop column x1',
        'create table x4 (id bigint primary key, issue_id bigint references issues (id)); create index on x4 (issue_id)',
        'update application_settings set updated_at = updated_at',
        "update issues set title = 'x' where id = 1",
        outside('alter table issues validate constraint x3; create index concurrently x5 on issues (title);'),
        outside(
          'alter table issues add constraint x6 check (x2 is not null) not valid; alter table issues validate constraint x6; alter table issues alter column x2 set not null;',
        ),
        outside('update issues set x2 = 8 where id in (select id from issues where x2 = 7 limit 100);'),
      ])
        expect(await examine(sql, '0100_x', text), text).toEqual([]);
    } finally {
      await sql.end();
    }
  }));

test('of migrations as they were written before there was the rule, some are refused', () =>
  onReleased('0.1.0-0079', async (target) => {
    const sql = connect(target, options);
    try {
      const problems: string[] = [];
      for (const file of newer('0.1.0-0079'))
        problems.push(...(await examine(sql, file.replace('.sql', ''), textOf(file))));
      expect(problems.join('\n')).toMatch(
        /^0091_sizes_of_projects: create index uploads_project .* builds an index on public.uploads/m,
      );
    } finally {
      await sql.end();
    }
  }));
