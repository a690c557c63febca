/** Refuses a setting whose pattern no title could be held to. */
import { invalid } from '../../../platform/failure.ts';
import { patternProblem } from '../../../platform/patterns/pattern.ts';
import type { SettingFollowUp } from '../../namespaces/index.ts';

export const checkTitlePattern: SettingFollowUp = async (_tx, _projectId, changes) => {
  const pattern = changes.merge_request_title_regex;
  const problem = pattern ? await patternProblem(pattern) : undefined;
  if (problem !== undefined) throw invalid({ merge_request_title_regex: [problem] });
};
