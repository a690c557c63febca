/** Endpoints of metric images of alerts and issues (facts: Alerts; Issues, metric images). */
import Type, { type TProperties } from 'typebox';
import { type Access, onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { pictureFile } from '../../../kernel/files/pictures.ts';
import { forbidden } from '../../../platform/failure.ts';
import { integerId, nullable } from '../../../platform/http/parameters/schema.ts';
import { webAddress } from '../../../platform/http/web-address.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { findIssue } from '../../work-items/index.ts';
import { MetricImageRecord } from '../alerts/schema.ts';
import { findAlert } from '../queries.ts';
import { addImage, deleteImage, type Pictured, presentImage, selectImages, updateImage } from './actions.ts';

/** A file in its request; larger images than permitted are read up to here, to get their message. */
const BODY_LIMIT = 4 * 1_048_576;

type Finding = Pick<Context<unknown, AuthorizedProject, Caller>, 'db' | 'actor' | 'subject'>;

type ImageParent = {
  /** Below one alert or issue, by its number in the project. */
  path:
    | '/projects/:id/alert_management_alerts/:alert_iid/metric_images'
    | '/projects/:id/issues/:issue_iid/metric_images';
  noun: string;
  named: TProperties;
  read: Access<AuthorizedProject, Caller>;
  write: Access<AuthorizedProject, Actor>;
  find(finding: Finding, input: Record<string, unknown>): Promise<Pictured>;
  /** 403 for readers who may not add images. */
  findToWrite(finding: Finding, input: Record<string, unknown>): Promise<Pictured>;
};

const findOfAlert: ImageParent['find'] = async ({ db, subject }, input) => {
  const { id } = await findAlert(db, subject, Number(input.alert_iid));
  return { column: 'alert_id', id, project: subject };
};

const alerts = {
  path: '/projects/:id/alert_management_alerts/:alert_iid/metric_images',
  noun: 'an alert',
  named: { alert_iid: integerId() },
  read: onProject('read_alerts'),
  write: onProject('manage_alerts'),
  find: findOfAlert,
  findToWrite: findOfAlert,
} satisfies ImageParent;

const issues = {
  path: '/projects/:id/issues/:issue_iid/metric_images',
  noun: 'an issue',
  named: { issue_iid: integerId() },
  read: onProject('read_issues'),
  write: onProject('create_issues'),
  find: async ({ db, actor, subject }, input) => {
    const { id } = await findIssue(db, subject, actor, Number(input.issue_iid));
    return { column: 'issue_id', id, project: subject };
  },
  findToWrite: async ({ db, actor, subject }, input) => {
    const { id, author_id } = await findIssue(db, subject, actor, Number(input.issue_iid));
    const isAuthor = subject.role > 0 && author_id === actor?.id;
    if (!isAuthor && !subject.may('update_issues')) throw forbidden();
    return { column: 'issue_id', id, project: subject };
  },
} satisfies ImageParent;

const imageId = { metric_image_id: integerId() };
const link = {
  url: Type.Optional(
    nullable(Type.String({ maxLength: 255, ...webAddress, description: 'A page about the graph.' })),
  ),
  url_text: Type.Optional(nullable(Type.String({ maxLength: 128, description: 'How the page is called.' }))),
};

const pictures = { method: 'GET', tier: 'premium', page: 'offset', item: MetricImageRecord } as const;

async function showImages(
  { db, subject, page }: Pick<Context<unknown, AuthorizedProject, Caller>, 'db' | 'subject' | 'page'>,
  pictured: Pictured,
) {
  const images = await selectImages(db, pictured, page);
  return mapPage(images, (image) => presentImage(subject, image));
}

export const alertImagesEndpoint = listing({
  ...pictures,
  path: alerts.path,
  summary: 'Pictures of graphs with an alert, oldest first.',
  access: alerts.read,
  input: Type.Object(alerts.named),
  handle: async (context) => showImages(context, await alerts.find(context, context.input)),
});

export const issueImagesEndpoint = listing({
  ...pictures,
  path: issues.path,
  summary: 'Pictures of graphs with an issue, oldest first.',
  access: issues.read,
  input: Type.Object(issues.named),
  handle: async (context) => showImages(context, await issues.find(context, context.input)),
});

const writeEndpoints = ({ path, noun, named, write, findToWrite }: ImageParent): Endpoint[] => [
  endpoint({
    method: 'POST',
    path,
    summary: `Adds a picture of a graph to ${noun}: at most 1 MiB.`,
    tier: 'premium',
    access: write,
    bodyLimit: BODY_LIMIT,
    input: Type.Object({
      ...named,
      file: pictureFile({ description: 'A picture of at most 1 MiB.' }),
      ...link,
    }),
    reply: MetricImageRecord,
    handle: async (context) => {
      const { services, actor, subject, input } = context;
      const pictured = await findToWrite(context, input);
      return presentImage(subject, await addImage(services, actor, pictured, input));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:metric_image_id`,
    summary: `Changes where a picture with ${noun} leads.`,
    tier: 'premium',
    access: write,
    input: Type.Object({ ...named, ...imageId, ...link }),
    reply: MetricImageRecord,
    handle: async (context) => {
      const { db, subject, input } = context;
      const { metric_image_id: id, url, url_text } = input;
      return presentImage(
        subject,
        await updateImage(db, await findToWrite(context, input), id, { url, url_text }),
      );
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:metric_image_id`,
    summary: `Removes a picture from ${noun}.`,
    tier: 'premium',
    access: write,
    input: Type.Object({ ...named, ...imageId }),
    reply: noContent,
    handle: async (context) => {
      const { db, input, unmodified } = context;
      await deleteImage(db, await findToWrite(context, input), input.metric_image_id, unmodified);
      return null;
    },
  }),
];

export const metricImageEndpoints: Endpoint[] = [
  alertImagesEndpoint,
  ...writeEndpoints(alerts),
  issueImagesEndpoint,
  ...writeEndpoints(issues),
];
