/** Endpoints of integrations, configured by Maintainers (spec: Alert ingestion; the paths are our own). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import {
  ChangeIntegration,
  CreatedAlerts,
  IntegrationRecord,
  integrationId,
  jsonObject,
  NewIntegration,
  PayloadFieldRecord,
} from '../alerts/schema.ts';
import { ingest } from '../ingest/ingest.ts';
import { fieldsOf } from '../payloads/mapping.ts';
import {
  createIntegration,
  deleteIntegration,
  findIntegration,
  resetKey,
  updateIntegration,
} from './actions.ts';
import { presentIntegration, presentListed } from './present.ts';
import { selectIntegrations } from './queries.ts';
import { requireFit } from './rules.ts';

const path = '/projects/:id/alert_management_integrations';
const pathOfOne = `${path}/:integration_id`;
const configuring = onProject('manage_alert_integrations');
/** A payload of 1 MiB in its request; escapes may double it. */
const BODY_LIMIT = 4 * 1_048_576;

export const integrationEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Integrations of a project that take alerts, oldest first.',
    access: onProject('read_alerts'),
    page: 'offset',
    item: IntegrationRecord,
    handle: async ({ db, services, subject, page }) => {
      const listed = await selectIntegrations(db, subject.id, page);
      return mapPage(listed, (row) => presentListed(services.baseUrl(), subject, row));
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes an integration; the answer has the key, which is shown this once.',
    access: configuring,
    bodyLimit: BODY_LIMIT,
    input: NewIntegration,
    reply: IntegrationRecord,
    handle: async ({ db, services, actor, subject, input }) => {
      const { row, key } = await createIntegration(db, actor, subject, input, services.config.tier);
      return presentIntegration(services.baseUrl(), subject, row, key);
    },
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'One integration with its sample and mapping.',
    access: onProject('read_alerts'),
    input: Type.Object(integrationId),
    reply: IntegrationRecord,
    handle: async ({ db, services, subject, input }) => {
      const row = await findIntegration(db, subject, input.integration_id);
      return presentIntegration(services.baseUrl(), subject, row);
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes an integration; an active one of type metrics stops the others of the type.',
    access: configuring,
    bodyLimit: BODY_LIMIT,
    input: ChangeIntegration,
    reply: IntegrationRecord,
    handle: async ({ db, services, actor, subject, input }) => {
      const { integration_id, ...changes } = input;
      const { tier } = services.config;
      const row = await updateIntegration(db, actor, subject, integration_id, changes, tier);
      return presentIntegration(services.baseUrl(), subject, row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Removes an integration; its alerts stay.',
    access: configuring,
    input: Type.Object(integrationId),
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      await deleteIntegration(db, actor, subject, input.integration_id, unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/reset_key`,
    summary: 'Gives an integration another key, which is shown this once; the one before ends.',
    access: configuring,
    input: Type.Object(integrationId),
    reply: IntegrationRecord,
    handle: async ({ db, services, actor, subject, input }) => {
      const { row, key } = await resetKey(db, actor, subject, input.integration_id);
      return presentIntegration(services.baseUrl(), subject, row, key);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/test`,
    status: 200,
    summary: 'Takes a payload as if it had been posted to the integration; 403 while that is not active.',
    access: onProject('manage_alerts'),
    also: [422],
    bodyLimit: BODY_LIMIT,
    input: Type.Object({ ...integrationId, payload: jsonObject('As a monitoring tool would send it.') }),
    reply: CreatedAlerts,
    handle: async ({ db, services, subject, input }) => {
      const { kind, identifier, key_digest } = await findIntegration(db, subject, input.integration_id);
      requireFit(input.payload);
      // The table's check constraint admits only the two kinds.
      const reading = {
        path: subject.fullPath.toLowerCase(),
        kind: kind === 'metrics' ? kind : 'http',
      } as const;
      const ingestKey = { readings: [reading], identifier, keyDigest: key_digest };
      return ingest(services, ingestKey, Buffer.from(JSON.stringify(input.payload)));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/alert_management_payload_fields',
    status: 200,
    summary: 'The places of a sample payload that a mapping can choose.',
    tier: 'premium',
    access: configuring,
    bodyLimit: BODY_LIMIT,
    input: Type.Object({ payload_example: jsonObject('The sample.') }),
    reply: Type.Array(PayloadFieldRecord),
    handle: async ({ input }) => {
      requireFit(input.payload_example);
      return fieldsOf(input.payload_example).map((field) => ({ ...field, path: [...field.path] }));
    },
  }),
];
