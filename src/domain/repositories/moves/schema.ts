/** Moves of repositories in requests and responses (facts: Repository storage moves). */
import Type from 'typebox';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import type { MovableContainers } from './movable-containers.ts';
import { moveStates } from './schedule-actions.ts';

const MoveFields = {
  id: Type.Integer(),
  created_at: dateTime(),
  state: stringEnum(moveStates),
  source_storage_name: Type.String(),
  destination_storage_name: Type.String(),
  error_message: nullable(Type.String()),
};

/** The record of a move, with its container. */
export const moveRecordOf = ({ kind, record }: MovableContainers) =>
  Type.Object({ ...MoveFields, [kind]: record });

export const destination = {
  destination_storage_name: Type.Optional(
    Type.String({
      ruled: { format: 'storage-name' },
      description: 'One of the storages; chosen by weight when absent.',
    }),
  ),
};
export const source = {
  source_storage_name: Type.String({
    ruled: { format: 'storage-name' },
    description: 'One of the storages.',
  }),
};
export const moveId = { repository_storage_move_id: Type.Integer() };

/** The paths of a project's repositories on disk. */
export const ProjectStorage = Type.Object({
  project_id: Type.Integer(),
  disk_path: Type.String(),
  created_at: dateTime(),
  repository_storage: Type.String(),
});
