/** Finds what groups keep of other registries, and how their proxies are set. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Reference } from '../names/rules.ts';

export type ProxySettingsRow = {
  enabled: boolean;
  identity: string | null;
  secret_sealed: string | null;
  image_ttl_enabled: boolean;
  image_ttl: number;
};

/** As of a group that never changed them. */
const defaults: ProxySettingsRow = {
  enabled: true,
  identity: null,
  secret_sealed: null,
  image_ttl_enabled: false,
  image_ttl: 90,
};

/** Of the group, whose row may be missing. */
export async function selectProxySettings(db: Db, groupId: number): Promise<ProxySettingsRow> {
  const row = await db
    .selectFrom('dependency_proxy_settings')
    .select(['enabled', 'identity', 'secret_sealed', 'image_ttl_enabled', 'image_ttl'])
    .where('namespace_id', '=', groupId)
    .executeTakeFirst();
  return row ?? defaults;
}

/** An image that a group keeps. */
export type KeptImage = { groupId: number; image: string };

export type KeptManifest = {
  id: number;
  digest: string;
  media_type: string;
  sha256: Buffer;
  pulled_at: Date;
};

/** The manifest of a digest, or of a tag as it was when the registry behind was last asked. */
export async function selectKeptManifest(
  db: Db,
  { groupId, image }: KeptImage,
  reference: Reference,
): Promise<KeptManifest | undefined> {
  const of =
    'digest' in reference
      ? sql`digest = ${reference.digest}`
      : sql`id = (
          select manifest_id from dependency_proxy_tags
          where namespace_id = ${groupId} and image = ${image} and name = ${reference.tag})`;
  const { rows } = await sql<KeptManifest>`
    select id, digest, media_type, sha256, pulled_at from dependency_proxy_manifests
    where namespace_id = ${groupId} and image = ${image} and ${of}`.execute(db);
  return rows[0];
}

export type KeptBlob = { id: number; sha256: Buffer; pulled_at: Date };

export const selectKeptBlob = (db: Db, groupId: number, digest: string): Promise<KeptBlob | undefined> =>
  db
    .selectFrom('dependency_proxy_blobs')
    .select(['id', 'sha256', 'pulled_at'])
    .where('namespace_id', '=', groupId)
    .where('digest', '=', digest)
    .executeTakeFirst();

/** Whether a group keeps anything since that time or before. */
export async function isAnyKept(db: Db, groupId: number, before: Date): Promise<boolean> {
  const { rows } = await sql<{ kept: boolean }>`
    select exists (select from dependency_proxy_manifests where namespace_id = ${groupId} and created_at <= ${before})
      or exists (select from dependency_proxy_blobs where namespace_id = ${groupId} and created_at <= ${before}) as kept`.execute(
    db,
  );
  return rows[0]?.kept ?? false;
}

/** Groups that remove what was not pulled for a time, and the time. */
export async function selectExpiring(db: Db): Promise<{ namespace_id: number; image_ttl: number }[]> {
  return db
    .selectFrom('dependency_proxy_settings')
    .select(['namespace_id', 'image_ttl'])
    .where('image_ttl_enabled', '=', true)
    .orderBy('namespace_id')
    .execute();
}
