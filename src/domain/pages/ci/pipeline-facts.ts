/** What the jobs of a pipeline left for readers, on its page and on that of its merge request. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { between, type Html, type HtmlValue, html } from '../../../platform/http/pages/html.ts';
import { selectCoverageReports, selectExposedArchives } from '../../ci/index.ts';
import { projectAddress } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';

/** Coverage as its jobs say it, with the way to that of each file, and the artifacts that have a name of their own. */
export async function pipelineFacts(
  { db, settings }: ViewContext,
  project: AuthorizedProject,
  pipeline: { id: number; coverage: string | null },
): Promise<[name: string, value: HtmlValue][]> {
  const [reports, exposed] = await Promise.all([
    selectCoverageReports(db, project, pipeline, settings.keep_latest_artifact),
    selectExposedArchives(db, project, pipeline, settings.keep_latest_artifact),
  ]);
  const address = projectAddress(project);
  const coverage: Html[] = [
    ...(pipeline.coverage === null ? [] : [html`${pipeline.coverage} %`]),
    ...(reports.length === 0
      ? []
      : [html`<a href="${address}/-/pipelines/${pipeline.id}/coverage">of each file</a>`]),
  ];
  return [
    ['Coverage', between(coverage)],
    [
      'Artifacts',
      between(
        exposed.map(
          ({ job_id: id, exposed_as: name }) =>
            html`<a href="${address}/-/jobs/${id}/artifacts/browse">${name}</a>`,
        ),
      ),
    ],
  ];
}
