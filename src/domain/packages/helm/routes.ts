/** Charts of Helm in the channels of a project (facts-packages: 1.8). */
import Type from 'typebox';
import { onPackages } from '../../../kernel/access/package-access.ts';
import { downloadStatuses } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import { badRequest } from '../../../platform/failure.ts';
import { file } from '../../../platform/http/parameters/schema.ts';
import { publishFile, requirePublishable } from '../publishing/publish-actions.ts';
import { withUpload } from '../publishing/receive.ts';
import { Created, created } from '../publishing/replies.ts';
import { replyWithFile } from '../records/download.ts';
import { readDescription } from './chart-archive.ts';
import { selectChart, selectCharts } from './queries.ts';
import { chartOf, indexDocument, isChannel } from './rules.ts';

const project = '/projects/:id/packages/helm';
const read = {
  method: 'GET',
  access: onPackages('read_packages'),
  packageScope: 'read_package_registry',
  jobToken: true,
} as const;
const OneChannel = Type.Object({ channel: Type.String() });

function requireChannel(channel: string): void {
  if (!isChannel(channel)) throw badRequest('channel is invalid');
}

export const helmEndpoints: Endpoint[] = [
  endpoint({
    ...read,
    path: `${project}/:channel/index.yaml`,
    summary: 'The index of the charts of a channel, the newest first.',
    input: OneChannel,
    reply: bytesOf('text/yaml'),
    handle: async ({ db, subject, input }) => {
      requireChannel(input.channel);
      const charts = await selectCharts(db, subject, input.channel);
      const text = indexDocument(charts, `/api/v4/projects/${subject.id}/packages/helm`);
      return new Reply(200, Buffer.from(text), { 'content-type': 'text/yaml' });
    },
  }),
  endpoint({
    ...read,
    path: `${project}/:channel/charts/:file_name`,
    takesRest: true,
    summary: 'The archive of a chart; the newest of its name.',
    also: downloadStatuses,
    input: Type.Object({ channel: Type.String(), file_name: Type.String() }),
    reply: bytesOf('application/octet-stream'),
    handle: async (context) => {
      const { db, subject, input } = context;
      const { channel, file_name: fileName } = input;
      return replyWithFile(context, found(await selectChart(db, subject, { channel, fileName }), 'Package'));
    },
  }),
  endpoint({
    method: 'POST',
    path: `${project}/api/:channel/charts`,
    summary: 'Publishes a chart in a channel.',
    access: onPackages('publish_packages'),
    packageScope: 'write_package_registry',
    jobToken: true,
    stream: true,
    input: Type.Object(
      {
        channel: Type.String(),
        chart: Type.Optional(file({ description: 'The archive, as `helm package` makes it.' })),
      },
      { ruled: { required: ['chart'] } },
    ),
    reply: Created,
    handle: async (context) => {
      const { channel } = context.input;
      requireChannel(channel);
      await withUpload(context, 'helm', { field: 'chart', raw: false }, async (upload) => {
        const { name, version, description } = chartOf(await readDescription(upload.draft.path));
        const publishable = await requirePublishable(context, { type: 'helm', name });
        await publishFile(
          context,
          upload,
          { ...publishable, version },
          { name: `${name}-${version}.tgz`, metadata: { channel, description } },
        );
      });
      return created;
    },
  }),
];
