/** The types of artifacts, how each is packed, and the name of its file (facts for CI: Report types). */

export type ArtifactFormat = 'raw' | 'zip' | 'gzip';

const packed: Record<ArtifactFormat, Record<string, string>> = {
  zip: { archive: 'artifacts.zip', lsif: 'lsif.json' },
  gzip: {
    junit: 'junit.xml',
    metrics: 'metrics.txt',
    dotenv: '.env',
    cobertura: 'cobertura-coverage.xml',
    jacoco: 'jacoco-coverage.xml',
    cyclonedx: 'gl-sbom.cdx.json',
    annotations: 'gl-annotations.json',
    repository_xray: 'gl-repository-xray.json',
    metrics_referee: 'metrics_referee.txt',
    network_referee: 'network_referee.json',
  },
  raw: {
    sast: 'gl-sast-report.json',
    secret_detection: 'gl-secret-detection-report.json',
    dependency_scanning: 'gl-dependency-scanning-report.json',
    container_scanning: 'gl-container-scanning-report.json',
    cluster_image_scanning: 'gl-cluster-image-scanning-report.json',
    dast: 'gl-dast-report.json',
    license_scanning: 'gl-license-scanning-report.json',
    accessibility: 'gl-accessibility.json',
    codequality: 'gl-code-quality-report.json',
    performance: 'performance.json',
    browser_performance: 'browser-performance.json',
    load_performance: 'load-performance.json',
    terraform: 'tfplan.json',
    requirements: 'requirements.json',
    requirements_v2: 'requirements_v2.json',
    coverage_fuzzing: 'gl-coverage-fuzzing.json',
    api_fuzzing: 'gl-api-fuzzing-report.json',
    sarif: 'gl-sarif-report.sarif',
  },
};

export const artifactTypes: ReadonlyMap<string, { format: ArtifactFormat; filename: string }> = new Map(
  (Object.keys(packed) as ArtifactFormat[]).flatMap((format) =>
    Object.entries(packed[format]).map(([type, filename]) => [type, { format, filename }] as const),
  ),
);
