/** Who uses images by the REST API. */
import { type Access, onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { asId } from '../../../kernel/access/find-queries.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { forbidden } from '../../../platform/failure.ts';
import { selectProjectIdOf } from '../images/queries.ts';
import { isShutToJob } from './rules.ts';

export const readImages = onProject('read_container_images');

/** The project of a repository, which the path names by its id alone. */
export const readImage: typeof readImages = {
  ...readImages,
  find: async (request) => {
    const id = asId(request.params.id ?? '');
    const project = id === undefined ? undefined : await selectProjectIdOf(request.sql, id);
    return readImages.find({ ...request, params: { id: String(project ?? 0) } });
  },
};

/** A job deletes images of its own project alone. */
const withoutOtherJobs = (access: Access<AuthorizedProject, Actor>): Access<AuthorizedProject, Actor> => ({
  ...access,
  find: async (request) => {
    const found = await access.find(request);
    if (isShutToJob({ caller: request.caller }, found.subject.id, 'delete')) throw forbidden();
    return found;
  },
});

export const deleteTags = withoutOtherJobs(onProject('delete_container_tags'));
export const deleteImages = withoutOtherJobs(onProject('delete_container_images'));
