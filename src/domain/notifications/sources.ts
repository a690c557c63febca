/** Loaders of subjects. Capabilities with merge requests, releases and pipelines add their own. */
import { loadCommit, loadSnippet } from './code-subjects.ts';
import { loadEpic } from './epic-subject.ts';
import { loadIssue } from './issue-subject.ts';
import type { Loading, Subject, SubjectSources } from './subjects.ts';

/** The move of a project, sent to users who may read it at its new path. */
async function loadMove({
  services,
  context,
  job: { payload: told },
}: Loading): Promise<Subject | undefined> {
  const url = `${services.baseUrl()}/${context.fullPath}`;
  return {
    authorId: undefined,
    assigneeIds: [],
    reviewerIds: [],
    said: null,
    internal: false,
    targetFor: undefined,
    at: undefined,
    tell: async () => ({
      event: 'moved_project',
      target: {
        kind: 'project',
        id: context.id,
        url,
        from: String(told.from),
        to: String(told.to),
        cloneUrl: `${url}.git`,
      },
    }),
  };
}

export const subjectSources: SubjectSources = {
  issue: loadIssue,
  epic: loadEpic,
  snippet: loadSnippet,
  commit: loadCommit,
  project: loadMove,
};
