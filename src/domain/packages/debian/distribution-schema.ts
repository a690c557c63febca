/** Distributions of Debian packages in requests and responses (facts-packages: 1.10). */
import Type, { type Static } from 'typebox';
import { nullable } from '../../../platform/http/parameters/schema.ts';
import { ARCHITECTURE, WORD } from './rules.ts';

const word = { pattern: WORD, maxLength: 64 };
/** Lines of the release: one line each. */
const line = (description: string) =>
  Type.Optional(
    nullable(
      Type.String({ pattern: '^[^\\p{Cc}\\s]([^\\p{Cc}]*[^\\p{Cc}\\s])?$', maxLength: 255, description }),
    ),
  );
const DAY_SECONDS = 86_400;
const YEARS_SECONDS = 315_360_000;

const changes = {
  suite: Type.Optional(nullable(Type.String({ ...word, description: 'Another name of it: `stable`.' }))),
  origin: line('Who it is of, as pins of programs name it.'),
  label: line('What it is called.'),
  version: line('Its version.'),
  description: line('A sentence about it.'),
  valid_time_duration_seconds: Type.Optional(
    nullable(
      Type.Integer({
        minimum: DAY_SECONDS,
        maximum: YEARS_SECONDS,
        description: 'Programs refuse a release that is older; without it, they take each.',
      }),
    ),
  ),
  components: Type.Optional(
    Type.Array(Type.String(word), { minItems: 1, maxItems: 20, description: '`main` alone, unless given.' }),
  ),
  architectures: Type.Optional(
    Type.Array(Type.String({ pattern: ARCHITECTURE, maxLength: 64 }), {
      maxItems: 30,
      description: '`amd64` alone, unless given. `all` is always one of them.',
    }),
  ),
};

const one = { codename: Type.String(word) };
export const OneDistribution = Type.Object({ codename: Type.String() });
export const NewDistribution = Type.Object({ ...one, ...changes });
export type NewDistribution = Static<typeof NewDistribution>;
export const DistributionUpdate = Type.Object({ codename: Type.String(), ...changes });
export type DistributionChanges = Partial<Omit<NewDistribution, 'codename'>>;

export const DistributionsInput = Type.Object({
  codename: Type.Optional(Type.String({ description: 'Only the one of exactly this name.' })),
  suite: Type.Optional(Type.String({ description: 'Only the one of exactly this suite.' })),
});

export const Distribution = Type.Object({
  id: Type.Integer(),
  codename: Type.String(),
  suite: nullable(Type.String()),
  origin: nullable(Type.String()),
  label: nullable(Type.String()),
  version: nullable(Type.String()),
  description: nullable(Type.String()),
  valid_time_duration_seconds: nullable(Type.Integer()),
  components: Type.Array(Type.String()),
  architectures: Type.Array(Type.String()),
});
