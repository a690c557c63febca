/** Tiers of environments, and what names speak of (facts-ci: 7.1). Pure. */
export const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const;
export type Tier = (typeof tiers)[number];

const tierPatterns: readonly (readonly [Tier, RegExp])[] = [
  ['development', /dev|review|trunk/i],
  ['testing', /test|tst|int|acc?ept|acpt|qa|qc|control|quality/i],
  ['staging', /stag|stg|model|modl|pre|demo|non/i],
  ['production', /prod|prd|live/i],
];

/** The tier that the name speaks of. */
export const guessTier = (name: string): Tier =>
  tierPatterns.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other';
