import { expect, test } from 'vitest';
import { isOutside, statementsOf, stepsOf } from './migration-statements.ts';

test.each([
  ['select 1; select 2;', ['select 1', 'select 2']],
  ['select 1', ['select 1']],
  ["select ';'; select 'it''s; here'", ["select ';'", "select 'it''s; here'"]],
  ['create function f() as $$ a; b; $$; select 2', ['create function f() as $$ a; b; $$', 'select 2']],
  ['select $x$ ;$$; $x$;', ['select $x$ ;$$; $x$']],
  ['-- a; b\nselect 1; -- the end;\n', ['-- a; b\nselect 1']],
  ['/* a; */ select "a;b";', ['/* a; */ select "a;b"']],
  [' ;; \n', []],
])('statements of %j', (text, statements) => {
  expect(statementsOf(text)).toEqual(statements);
});

test('a file says in its first line that it runs outside a transaction', () => {
  expect(isOutside('-- outside a transaction\nselect 1;')).toBe(true);
  expect(isOutside('-- inside\n-- outside a transaction\nselect 1;')).toBe(false);
});

test.each([
  ['create index concurrently a_b on a (b)', { kind: 'index', index: 'a_b' }],
  ['create unique index concurrently a_b on a (b) where c', { kind: 'index', index: 'a_b' }],
  [
    'alter table a add constraint a_check check (b > 0) not valid',
    { kind: 'constraint', table: 'a', constraint: 'a_check' },
  ],
  ['alter table a validate constraint a_check', { kind: 'plain' }],
  ['alter table a add column if not exists c bigint', { kind: 'plain' }],
  ['alter table a alter column c set not null', { kind: 'plain' }],
  ['drop index concurrently if exists a_b', { kind: 'plain' }],
  [
    '-- why\nupdate a set c = 1 where id in (select id from a where c is null limit 1000)',
    { kind: 'batches' },
  ],
])('%s may be repeated', (statement, step) => {
  expect(stepsOf('0100_x', `-- outside a transaction\n${statement};`)).toMatchObject([step]);
});

test.each([
  'create index a_b on a (b)',
  'create table c (id bigint)',
  'alter table a add column c bigint',
  'alter table a add constraint a_check check (b > 0)',
  'alter table a add column if not exists c bigint, alter column d type text',
  'update a set c = 1 where c is null',
  'do $$ begin end $$',
])('%s may not', (statement) => {
  expect(() => stepsOf('0100_x', `-- outside a transaction\n${statement};`)).toThrow(
    /^migration 0100_x runs outside a transaction, where .* this one is not: /,
  );
});
