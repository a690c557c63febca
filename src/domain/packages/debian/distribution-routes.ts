/** Distributions of Debian packages, of projects and of groups: the same endpoints, mounted for both (facts-packages: 1.10). */
import type { Static } from 'typebox';
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type GroupPackages, onGroupPackages, onPackages } from '../../../kernel/access/package-access.ts';
import { parentColumns, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import {
  Accepted,
  accepted,
  bytesOf,
  type Endpoint,
  endpoint,
  found,
  listing,
  Reply,
} from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createDistribution, deleteDistribution, updateDistribution } from './distribution-actions.ts';
import {
  type DistributionRow,
  type Owner,
  selectDistribution,
  selectDistributions,
} from './distribution-queries.ts';
import {
  Distribution,
  DistributionsInput,
  DistributionUpdate,
  NewDistribution,
  OneDistribution,
} from './distribution-schema.ts';

const present = (row: DistributionRow): Static<typeof Distribution> => ({
  id: row.id,
  codename: row.codename,
  suite: row.suite,
  origin: row.origin,
  label: row.label,
  version: row.version,
  description: row.description,
  valid_time_duration_seconds: row.valid_time_duration_seconds,
  components: row.components,
  architectures: row.architectures,
});

const endpointsOf = (
  { path, word }: { path: string; word: 'project' | 'group' },
  read: Access<ResourceParent, Caller>,
  write: Access<ResourceParent, Actor>,
  remove: Access<ResourceParent, Actor>,
): Endpoint[] => [
  listing({
    method: 'GET',
    path,
    summary: `Distributions of Debian packages of a ${word}.`,
    access: read,
    page: 'offset',
    input: DistributionsInput,
    item: Distribution,
    handle: async ({ db, subject, input, page }) =>
      mapPage(await selectDistributions(db, parentColumns(subject), input, page), present),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:codename`,
    summary: `A distribution of Debian packages of a ${word}.`,
    access: read,
    input: OneDistribution,
    reply: Distribution,
    handle: async ({ db, subject, input }) =>
      present(found(await selectDistribution(db, parentColumns(subject), input.codename), 'Distribution')),
  }),
  endpoint({
    method: 'POST',
    path,
    summary: `Makes a distribution of Debian packages of a ${word}, and its key.`,
    access: write,
    input: NewDistribution,
    reply: Distribution,
    handle: async (context) => present(await createDistribution(context, context.input)),
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:codename`,
    summary: `Changes a distribution of Debian packages of a ${word}.`,
    access: write,
    input: DistributionUpdate,
    reply: Distribution,
    handle: async (context) => {
      const { codename, ...changes } = context.input;
      return present(await updateDistribution(context, codename, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:codename`,
    summary: `Deletes a distribution of Debian packages of a ${word}; the packages stay.`,
    access: remove,
    input: OneDistribution,
    status: 202,
    reply: Accepted,
    handle: async (context) => {
      await deleteDistribution(context, context.input.codename, context.unmodified);
      return accepted();
    },
  }),
];

/** For programs, which come with the credentials of packages. */
const key = <Subject>(
  path: string,
  word: 'project' | 'group',
  access: Access<Subject, Caller>,
  ownerOf: (subject: Subject) => Owner,
): Endpoint =>
  endpoint({
    method: 'GET',
    path: `${path}/:codename/key.asc`,
    summary: `The public key that signs a distribution of Debian packages of a ${word}.`,
    access,
    packageScope: 'read_package_registry',
    jobToken: true,
    input: OneDistribution,
    reply: bytesOf('application/pgp-keys'),
    handle: async ({ db, subject, input }) => {
      const row = found(await selectDistribution(db, ownerOf(subject), input.codename), 'Distribution');
      return new Reply(200, Buffer.from(row.public_key), { 'content-type': 'application/pgp-keys' });
    },
  });

const ofProjects = '/projects/:id/debian_distributions';
const ofGroups = '/groups/:id/-/debian_distributions';

export const distributionEndpoints: Endpoint[] = [
  ...endpointsOf(
    { path: ofProjects, word: 'project' },
    onProject('read_packages'),
    onProject('publish_packages'),
    onProject('delete_packages'),
  ),
  key(ofProjects, 'project', onPackages('read_packages'), ({ id }: AuthorizedProject) => ({
    project_id: id,
  })),
  ...endpointsOf(
    { path: ofGroups, word: 'group' },
    onGroup('read_group'),
    onGroup('publish_packages'),
    onGroup('delete_packages'),
  ),
  key(ofGroups, 'group', onGroupPackages(), ({ groupId }: GroupPackages) => ({ namespace_id: groupId })),
];
