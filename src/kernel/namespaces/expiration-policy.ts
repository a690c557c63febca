/** The expiration policy of a project's images: which tags are deleted by the clock (facts-packages: 2.6, Cleanup policy). */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../../platform/http/parameters/schema.ts';

const cadences = ['1d', '7d', '14d', '1month', '3month'] as const;
const ages = ['7d', '14d', '30d', '90d'] as const;

/** As the project's settings keep it, and its record shows it. */
export const ContainerExpirationPolicy = Type.Object({
  cadence: stringEnum(cadences),
  enabled: Type.Boolean(),
  keep_n: nullable(Type.Integer()),
  older_than: nullable(Type.String()),
  name_regex: nullable(Type.String()),
  name_regex_keep: nullable(Type.String()),
  next_run_at: nullable(Type.String({ format: 'date-time' })),
});
export type ContainerExpirationPolicy = Static<typeof ContainerExpirationPolicy>;

const pattern = (description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: 255, ruled: { format: 're2' }, description })));

export const ExpirationPolicyAttributes = Type.Object({
  cadence: Type.Optional(stringEnum(cadences)),
  enabled: Type.Optional(Type.Boolean()),
  keep_n: Type.Optional(
    nullable(Type.Unsafe<1 | 5 | 10 | 25 | 50 | 100>({ type: 'integer', enum: [1, 5, 10, 25, 50, 100] })),
  ),
  older_than: Type.Optional(nullable(stringEnum(ages))),
  name_regex: pattern('Names of tags that go, in the syntax of RE2; an older name of name_regex_delete.'),
  name_regex_delete: pattern('Names of tags that go, in the syntax of RE2.'),
  name_regex_keep: pattern('Names of tags that stay.'),
});
export type ExpirationPolicyAttributes = Static<typeof ExpirationPolicyAttributes>;

export const defaultExpirationPolicy: ContainerExpirationPolicy = {
  cadence: '1d',
  enabled: false,
  keep_n: 10,
  older_than: '90d',
  name_regex: '.*',
  name_regex_keep: null,
  next_run_at: null,
};

const DAY_MS = 86_400_000;
const days: Record<ContainerExpirationPolicy['cadence'], number> = {
  '1d': 1,
  '7d': 7,
  '14d': 14,
  '1month': 30,
  '3month': 90,
};

/** The next run after one, or after a change, at this time. */
export const nextRun = ({ cadence }: Pick<ContainerExpirationPolicy, 'cadence'>, at: Date): string =>
  new Date(at.getTime() + days[cadence] * DAY_MS).toISOString();

/** The policy with the attributes that a request names; it runs next when its cadence has passed. */
export function changedPolicy(
  policy: ContainerExpirationPolicy,
  { name_regex_delete, ...attributes }: ExpirationPolicyAttributes,
  at: Date,
): ContainerExpirationPolicy {
  const changed = {
    ...policy,
    ...attributes,
    ...(name_regex_delete !== undefined && { name_regex: name_regex_delete }),
  };
  return { ...changed, next_run_at: nextRun(changed, at) };
}
