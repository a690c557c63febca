/** What the compiler is told of the world: the files that it may read, and the pipeline for which it reads them. */

/** A commit of a project, by whose tree local paths are found. */
export type SourceCommit = { project: string; sha: string };

export type RemoteText =
  | { kind: 'found'; text: string }
  | { kind: 'failed'; reason: 'socket' | 'timeout' | 'http' | number; attempts: number }
  /** No attempt was made; the reason is a sentence's end. */
  | { kind: 'refused'; reason: string };

export type Component = { text: string; at: SourceCommit; name: string; version: string; reference: string };

/** Files as the one who starts the pipeline may read them. */
export type Files = {
  /** The commit of a ref, or of the default branch, in a project by its path. */
  commit(project: string, ref: string | null): Promise<SourceCommit | 'no_project' | 'no_ref'>;
  /** Undefined without such a file. */
  read(path: string, at: SourceCommit): Promise<string | undefined>;
  /** Of all files. */
  paths(at: SourceCommit): Promise<readonly string[]>;
  remote(url: string): Promise<RemoteText>;
  component(address: string): Promise<Component | undefined>;
  /** A file of a job's artifacts in the parent pipeline; only child pipelines have it. */
  artifact?(job: string, path: string): Promise<string | undefined>;
};

export type ContextVariable = { key: string; value: string; raw?: boolean; file?: boolean; masked?: boolean };

export type PipelineContext = {
  /** Of the project that the pipeline is of, and its commit. */
  at: SourceCommit;
  /** `push`, `merge_request_event` … */
  source: string;
  /** Short name: of the branch or tag; of merge requests the source branch. */
  ref: string;
  refKind: 'branch' | 'tag' | 'merge_request';
  /** Needs that a job may have; parallel ones count each. */
  mostNeeds: number;
  /** CI_PIPELINE_SOURCE, CI_COMMIT_BRANCH …; the job's own are added here. Later ones win. */
  predefined: readonly ContextVariable[];
  /** What wins over the file: instance, groups, project, then schedule, trigger, or request. Later ones win. */
  overriding: readonly ContextVariable[];
  /** Paths that changed; since `compareTo`, where it is given. `unknown`: there is nothing to compare with. */
  changedPaths(compareTo: string | null): Promise<readonly string[] | 'unknown' | 'no_ref'>;
};

/** All that the compiler asks. */
export type World = Required<Files> & Pick<PipelineContext, 'changedPaths'>;
export type WorldName = keyof World;
export const WORLD: readonly WorldName[] = [
  'commit',
  'read',
  'paths',
  'remote',
  'component',
  'artifact',
  'changedPaths',
];

/** A question of the thread that compiles, and its answer. */
export type WorldQuestion = { id: number; name: WorldName; values: unknown[] };
export type WorldAnswer = { id: number; value: unknown } | { id: number; failed: true };
