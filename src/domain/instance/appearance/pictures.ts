/** Pictures of the appearance: which files they may be. */
import { type AvatarChange, imageExtension, newPicture } from '../../../kernel/files/pictures.ts';
import { cleanName } from '../../../kernel/files/upload-names.ts';
import type { AppearancePicture } from '../../../kernel/instance/appearance.ts';
import type { Needs } from '../../../kernel/services.ts';
import { invalid } from '../../../platform/failure.ts';
import type { UploadedFile } from '../../../platform/http/parameters/raw-parameters.ts';

const MAX_BYTES = 1_048_576;

const endings: readonly string[] = ['png', 'jpg', 'gif', 'ico'];
export const pictureContentTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/vnd.microsoft.icon'];

/** The picture in a body, by its bytes, whatever it is called; 400 for one that is too big, or none of these. */
export function pictureChange(
  { blobs }: Needs<'blobs'>,
  name: AppearancePicture,
  upload: UploadedFile | null | undefined,
): AvatarChange {
  if (!upload) return upload;
  if (upload.bytes.length > MAX_BYTES) throw invalid({ [name]: ['is too big (should be at most 1 MiB)'] });
  const isTaken = endings.includes(imageExtension(upload.bytes) ?? '');
  const picture = isTaken ? newPicture(blobs, upload.bytes, `/${cleanName(upload.filename)}`) : undefined;
  if (picture) return picture;
  throw invalid({
    [name]: [
      `file format is not supported. Please try one of the following supported formats: ${pictureContentTypes.join(', ')}`,
    ],
  });
}
