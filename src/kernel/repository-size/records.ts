/** The limit of a project or group in their records: administrators see it. */
import Type from 'typebox';
import { nullable } from '../../platform/http/parameters/schema.ts';
import { limitInBytes } from './rules.ts';

export const ShownSizeLimit = nullable(
  Type.Integer({ description: 'In bytes, and given in MiB; for administrators.' }),
);

export const presentSizeLimit = ({
  repository_size_limit: limit,
}: {
  repository_size_limit: number | null;
}) => ({
  repository_size_limit: limit === null ? null : limitInBytes(limit),
});
