/** The health of a repository: what it consists of, and what makes reading it fast. */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { type Health, readHealth } from '../../../platform/git/copies/health.ts';
import type { Bitmap } from '../../../platform/git/copies/health-headers.ts';
import { isRepository } from '../../../platform/git/ref-files.ts';
import { nullable } from '../../../platform/http/parameters/schema.ts';
import { projectRepository } from '../store/containers.ts';
import { selectOfProject } from './queries.ts';

const BitmapRecord = Type.Object({
  has_hash_cache: Type.Boolean(),
  has_lookup_table: Type.Boolean(),
  version: Type.Integer(),
});
const bytes = Type.Integer({ description: 'Bytes.' });

const HealthRecord = Type.Object({
  size: bytes,
  references: Type.Object({
    loose_count: Type.Integer(),
    packed_size: bytes,
    reference_backend: Type.String(),
  }),
  objects: Type.Object({
    size: bytes,
    recent_size: bytes,
    stale_size: bytes,
    keep_size: bytes,
    packfile_count: Type.Integer(),
    reverse_index_count: Type.Integer(),
    cruft_count: Type.Integer(),
    keep_count: Type.Integer(),
    loose_objects_count: Type.Integer(),
    stale_loose_objects_count: Type.Integer(),
    loose_objects_garbage_count: Type.Integer(),
  }),
  commit_graph: nullable(
    Type.Object({
      commit_graph_chain_length: Type.Integer(),
      has_bloom_filters: Type.Boolean(),
      has_generation_data: Type.Boolean(),
      has_generation_data_overflow: Type.Boolean(),
    }),
  ),
  bitmap: nullable(BitmapRecord),
  multi_pack_index: nullable(Type.Object({ packfile_count: Type.Integer(), version: Type.Integer() })),
  multi_pack_index_bitmap: nullable(BitmapRecord),
  alternates: Type.Null({ description: 'No repository uses the objects of another.' }),
  is_object_pool: Type.Boolean(),
  last_full_repack: nullable(Type.Object({ seconds: Type.Integer(), nanos: Type.Integer() })),
  updated_at: Type.String({ description: 'When one of its files changed last.' }),
});

const presentBitmap = (bitmap: Bitmap | undefined): Static<typeof BitmapRecord> | null =>
  bitmap
    ? {
        has_hash_cache: bitmap.hashCache,
        has_lookup_table: bitmap.lookupTable,
        version: bitmap.version,
      }
    : null;

const presentHealth = (health: Health, repackedAt: Date | null | undefined): Static<typeof HealthRecord> => {
  const { references, objects, commitGraph, multiPackIndex } = health;
  const repacked = repackedAt?.getTime();
  return {
    size: health.size,
    references: {
      loose_count: references.loose,
      packed_size: references.packedBytes,
      reference_backend: 'REFERENCE_BACKEND_FILES',
    },
    objects: {
      size: objects.recentBytes + objects.staleBytes,
      recent_size: objects.recentBytes,
      stale_size: objects.staleBytes,
      keep_size: objects.keptBytes,
      packfile_count: objects.packs,
      reverse_index_count: objects.reverseIndexes,
      cruft_count: objects.cruftPacks,
      keep_count: objects.keptPacks,
      loose_objects_count: objects.loose,
      stale_loose_objects_count: objects.staleLoose,
      loose_objects_garbage_count: objects.garbage,
    },
    commit_graph: commitGraph
      ? {
          commit_graph_chain_length: commitGraph.chainLength,
          has_bloom_filters: commitGraph.bloomFilters,
          has_generation_data: commitGraph.generationData,
          has_generation_data_overflow: commitGraph.generationOverflow,
        }
      : null,
    bitmap: presentBitmap(health.bitmap),
    multi_pack_index: multiPackIndex
      ? { packfile_count: multiPackIndex.packs, version: multiPackIndex.version }
      : null,
    multi_pack_index_bitmap: presentBitmap(health.multiPackBitmap),
    alternates: null,
    is_object_pool: false,
    last_full_repack:
      repacked === undefined
        ? null
        : { seconds: Math.floor(repacked / 1000), nanos: (repacked % 1000) * 1_000_000 },
    updated_at: health.changed.toISOString(),
  };
};

export const healthEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/health',
    summary: 'What a repository consists of, and what makes reading it fast, as it is now.',
    access: onProject('read_repository_health'),
    also: [422],
    input: Type.Object({
      generate: Type.Optional(Type.Boolean({ description: 'It is always made anew.' })),
    }),
    reply: HealthRecord,
    handle: async ({ db, services, subject }) => {
      const { id, row } = subject;
      const [health, rows] = await Promise.all([
        services.repositories.read(projectRepository(id), row.repository_storage, async ({ folder }) =>
          isRepository(folder) ? readHealth(folder, now()) : undefined,
        ),
        selectOfProject(db, id),
      ]);
      const own = rows.find(({ wiki }) => !wiki);
      return presentHealth(found(health, 'Repository'), own?.packed_at);
    },
  }),
];
