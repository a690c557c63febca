/** Metric images of alerts and issues: files are blobs. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { newPicture, pictureTypes } from '../../../kernel/files/pictures.ts';
import { cleanName } from '../../../kernel/files/upload-names.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { MetricImagesTable } from '../../../platform/db/rows.ts';
import { badRequest, Failure, invalid } from '../../../platform/failure.ts';
import type { UploadedFile } from '../../../platform/http/parameters/raw-parameters.ts';
import { isWebAddress } from '../../../platform/http/web-address.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { MetricImageRecord } from '../alerts/schema.ts';

export type MetricImageRow = Selectable<MetricImagesTable>;

/** The alert or issue of an image. */
export type Pictured = { column: 'alert_id' | 'issue_id'; id: number; project: AuthorizedProject };

const MAX_IMAGE_BYTES = 1_048_576;
/** Images of one alert or issue. */
const MAX_IMAGES = 100;

export type Link = { url?: string | null | undefined; url_text?: string | null | undefined };

/** 400 for a link that is not a web address: browsers would run some others as code. */
function requirePage({ url }: Link): void {
  if (url == null || url === '') return;
  if (!isWebAddress(url)) throw invalid({ url: ['is not a valid URL'] });
}

const linkColumns = ({ url, url_text }: Link) => ({
  ...(url !== undefined && { url: url || null }),
  ...(url_text !== undefined && { url_text: url_text || null }),
});

const imagesOf = (db: Db, { column, id }: Pictured) => db.selectFrom('metric_images').where(column, '=', id);

/** A page of images, oldest first. */
export const selectImages = (db: Db, pictured: Pictured, page: PageRequest): Promise<Page<MetricImageRow>> =>
  selectPage(
    db,
    imagesOf(db, pictured).selectAll(),
    page,
    { by: 'created_at', sort: 'asc' },
    { created_at: 'created_at', id: 'id' },
  );

/** The locked image; 404 without one. */
async function holdImage(tx: Db, { column, id }: Pictured, imageId: number): Promise<MetricImageRow> {
  const row = await tx
    .selectFrom('metric_images')
    .selectAll()
    .where(column, '=', id)
    .where('id', '=', imageId)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw new Failure('not_found', '404 Metric image not found');
  return row;
}

/** Stores an image; 400 for one that is too large or no image, and beyond a hundred. */
export async function addImage(
  { blobs, database }: Needs<'blobs' | 'database'>,
  actor: Actor,
  pictured: Pictured,
  { file, ...link }: { file: UploadedFile } & Link,
): Promise<MetricImageRow> {
  if (file.bytes.length > MAX_IMAGE_BYTES) throw badRequest('File is too large');
  requirePage(link);
  const picture = newPicture(blobs, file.bytes);
  if (!picture) throw invalid({ file: [`is no picture of a supported format: ${pictureTypes.join(', ')}`] });
  return inTransaction(database.db, async (tx) => {
    const name = `metric images ${pictured.column} ${pictured.id}`;
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(ahead(tx));
    const stored = await picture.keep(tx);
    const time = now();
    const { url = null, url_text = null } = linkColumns(link);
    const column = sql.ref(pictured.column);
    const { rows } = await sql<MetricImageRow>`
      insert into metric_images (project_id, ${column}, author_id, file_name, file, size, url, url_text, created_at, updated_at)
      select ${pictured.project.id}, ${pictured.id}, ${actor.id}, ${cleanName(file.filename)}, ${stored}, ${file.bytes.length},
        ${url}, ${url_text}, ${time}, ${time}
      where (select count(*) from metric_images where ${column} = ${pictured.id}) < ${MAX_IMAGES}
      returning *`.execute(tx);
    const [made] = rows;
    if (!made) throw badRequest(`there are ${MAX_IMAGES} metric images already`);
    return made;
  });
}

/** Changes the image's link; 404 without the image. */
export function updateImage(
  db: Db,
  pictured: Pictured,
  imageId: number,
  link: Link,
): Promise<MetricImageRow> {
  requirePage(link);
  return inTransaction(db, async (tx) => {
    const before = await holdImage(tx, pictured, imageId);
    return tx
      .updateTable('metric_images')
      .set({ ...linkColumns(link), updated_at: now() })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

/** Deletes the image; its file goes when no other row refers to it. */
export const deleteImage = (
  db: Db,
  pictured: Pictured,
  imageId: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const image = await holdImage(tx, pictured, imageId);
    unmodified(image.updated_at);
    await ahead(tx).deleteFrom('metric_images').where('id', '=', image.id).execute();
  });

/** The record; its file has an address below the project's page. */
export const presentImage = ({ fullPath }: AuthorizedProject, image: MetricImageRow): MetricImageRecord => ({
  id: image.id,
  created_at: image.created_at.toISOString(),
  filename: image.file_name,
  file_path: `/${fullPath}/-/metric_images/${image.id}/${encodeURIComponent(image.file_name)}`,
  url: image.url,
  url_text: image.url_text,
});
