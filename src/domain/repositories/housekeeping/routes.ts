/** Maintainers' requests for a repository's housekeeping (facts: Projects core). */
import { Readable } from 'node:stream';
import Type from 'typebox';
import { onInstance, onProject } from '../../../kernel/access/access.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { bytesOf, type Endpoint, endpoint, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { conflict, notFound } from '../../../platform/failure.ts';
import { snapshotRepository } from '../../../platform/git/copies/snapshot.ts';
import { NoRepository } from '../../../platform/git/program/program.ts';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { projectRepository, projectWiki } from '../store/containers.ts';
import { askForHousekeeping } from './ask-actions.ts';
import { selectOfProject } from './queries.ts';
import { measure } from './repack.ts';

const access = onProject('manage_repository');

export const housekeepingEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/housekeeping',
    summary: 'Repacks a repository soon, and drops what nothing has pointed to for two weeks.',
    access,
    also: [409],
    input: Type.Object({
      task: Type.Optional(stringEnum(['eager', 'prune'], { description: 'Both do all of it.' })),
    }),
    reply: noContent,
    handle: async ({ db, services, actor, subject }) => {
      await inTransaction(db, async (tx) => {
        if (!(await askForHousekeeping(tx, subject.id)))
          throw conflict('Somebody already triggered housekeeping for this resource');
        await announce(tx, {
          author: actor,
          audit: {
            entity: { type: 'Project', id: subject.id, path: subject.fullPath },
            event: 'manually_trigger_housekeeping',
          },
          fact: { name: 'housekeeping_requested', payload: { project_id: subject.id } },
        });
      });
      services.wake();
      return new Reply(201);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/repository_size',
    summary: 'Measures the repositories of a project anew.',
    access,
    reply: noContent,
    handle: async ({ db, services, subject }) => {
      const [first, ...others] = await selectOfProject(db, subject.id);
      if (first) await measure(services, [first, ...others]);
      return new Reply(201);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/snapshot',
    summary: 'A whole repository as a tar file, for administrators.',
    access: onInstance,
    input: Type.Object({
      id: Type.String(),
      wiki: Type.Optional(Type.Boolean({ description: "The wiki's repository instead." })),
    }),
    reply: bytesOf('application/x-tar'),
    handle: async ({ services, actor, input, request }) => {
      const { database, repositories } = services;
      const project = await authorizeProject(database.points, actor, 'read_project', input.id);
      const headers = { 'content-type': 'application/x-tar' };
      if (request.method === 'HEAD') return new Reply(200, Readable.from([]), headers);
      const lease = await repositories.lease(
        (input.wiki ? projectWiki : projectRepository)(project.id),
        'read',
      );
      try {
        return new Reply(200, await snapshotRepository(lease.git.folder), headers);
      } catch (error) {
        if (error instanceof NoRepository) throw notFound('Repository');
        throw error;
      } finally {
        // The snapshot has files of its own by now.
        await lease.release();
      }
    },
  }),
];
