/** Managed licences of projects (facts-packages: 7.1). */
import Type, { type Static } from 'typebox';
import { onProject } from '../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import { notBlank, stringEnum } from '../../platform/http/parameters/schema.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { createLicense, deleteLicense, updateLicense } from './actions.ts';
import { type LicenseRow, selectLicense, selectLicenses } from './queries.ts';
import { presentStatus, statuses } from './rules.ts';

const path = '/projects/:id/managed_licenses';
const read = onProject('read_managed_licenses');
const manage = onProject('manage_managed_licenses');
const common = { tier: 'ultimate', deprecated: { use: 'merge request approval policies' } } as const;

const one = { managed_license_id: Type.String({ description: 'The id, or the name.' }) };
const name = Type.String({ maxLength: 255, ...notBlank });
const approval_status = stringEnum(statuses, {
  description: '`approved` and `blacklisted` are former names of `allowed` and `denied`.',
});

const LicenseRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  approval_status: stringEnum(['allowed', 'denied']),
});

const present = ({ id, name, approval_status }: LicenseRow): Static<typeof LicenseRecord> => ({
  id,
  name,
  // The table's check constraint admits these alone.
  approval_status: approval_status as 'allowed' | 'denied',
});

export const managedLicenseEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Licences that a project allows and denies.',
    access: read,
    ...common,
    page: 'offset',
    item: LicenseRecord,
    handle: async ({ db, subject, page }) => mapPage(await selectLicenses(db, subject, page), present),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:managed_license_id`,
    summary: 'One licence that a project allows or denies.',
    access: read,
    ...common,
    input: Type.Object(one),
    reply: LicenseRecord,
    handle: async ({ db, subject, input }) =>
      present(found(await selectLicense(db, subject, input.managed_license_id), 'Managed License')),
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Allows or denies a licence in a project.',
    access: manage,
    ...common,
    input: Type.Object({ name, approval_status }),
    reply: LicenseRecord,
    handle: async (context) => {
      const { name, approval_status } = context.input;
      return present(await createLicense(context, { name, approval_status: presentStatus(approval_status) }));
    },
  }),
  endpoint({
    method: 'PATCH',
    path: `${path}/:managed_license_id`,
    summary: 'Changes a licence that a project allows or denies.',
    access: manage,
    ...common,
    input: Type.Object({
      ...one,
      name: Type.Optional(name),
      approval_status: Type.Optional(approval_status),
    }),
    reply: LicenseRecord,
    handle: async (context) => {
      const { managed_license_id, name, approval_status } = context.input;
      const changes = {
        ...(name !== undefined && { name }),
        ...(approval_status && { approval_status: presentStatus(approval_status) }),
      };
      return present(await updateLicense(context, managed_license_id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:managed_license_id`,
    summary: 'Removes a licence that a project allows or denies.',
    access: manage,
    ...common,
    input: Type.Object(one),
    reply: noContent,
    handle: async (context) => {
      await deleteLicense(context, context.input.managed_license_id, context.unmodified);
      return null;
    },
  }),
];
