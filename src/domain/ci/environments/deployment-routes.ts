/** Deployments of projects (facts: Projects core; facts-ci: 7.2). */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { badRequest } from '../../../platform/failure.ts';
import type { JobContext } from '../jobs/present.ts';
import { reviewDeployment } from './approval-actions.ts';
import { createDeployment, deleteDeployment, updateDeployment } from './deployment-actions.ts';
import { presentApproval, presentDeployments, presentExtended } from './present.ts';
import { selectDeployment, selectDeployments, selectReviews } from './queries.ts';
import { filterProblem } from './rules.ts';
import {
  Approval,
  CreateDeployment,
  Deployment,
  DeploymentList,
  ExtendedDeployment,
  OneDeployment,
  ReviewDeployment,
  UpdateDeployment,
} from './schema.ts';

const path = '/projects/:id/deployments';
const pathOfOne = `${path}/:deployment_id` as const;
const read = onProject('read_environments');
const manage = onProject('manage_environments');

async function show(context: JobContext, id: number): Promise<ExtendedDeployment> {
  const row = found(await selectDeployment(context.db, context.subject, id), 'Deployment');
  return found(await presentExtended(context, row));
}

export const deploymentEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Deployments of a project, the oldest first.',
    access: read,
    jobToken: true,
    page: 'offset',
    input: DeploymentList,
    item: Deployment,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      const problem = filterProblem(input);
      if (problem !== undefined) throw badRequest(problem);
      const rows = await selectDeployments(db, subject, input, page);
      return { ...rows, items: await presentDeployments(context, rows.items) };
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Tells of a deployment that was not made by a job.',
    access: manage,
    jobToken: true,
    input: CreateDeployment,
    reply: ExtendedDeployment,
    handle: async (context) => show(context, await createDeployment(context, context.input)),
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'A deployment of a project.',
    access: read,
    jobToken: true,
    input: OneDeployment,
    reply: ExtendedDeployment,
    handle: (context) => show(context, context.input.deployment_id),
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes the status of a deployment that was not made by a job.',
    access: manage,
    jobToken: true,
    input: UpdateDeployment,
    reply: ExtendedDeployment,
    handle: async (context) => {
      const { deployment_id, status } = context.input;
      await updateDeployment(context, deployment_id, status);
      return show(context, deployment_id);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/approval`,
    summary: 'Approves or rejects a deployment that waits for approvals.',
    access: onProject('approve_deployments'),
    tier: 'premium',
    input: ReviewDeployment,
    reply: Approval,
    handle: async (context) => {
      const { db, services, input } = context;
      const { deployment_id, ...review } = input;
      const { id } = await reviewDeployment(context, deployment_id, review);
      services.wake();
      const all = await selectReviews(db, deployment_id);
      return presentApproval(context, found(all.find((each) => each.id === id)));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a deployment that is not what its environment has.',
    access: manage,
    jobToken: true,
    input: OneDeployment,
    reply: noContent,
    handle: async (context) => {
      await deleteDeployment(context, context.input.deployment_id, context.unmodified);
      return null;
    },
  }),
];
