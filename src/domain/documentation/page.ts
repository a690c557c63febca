/** The endpoints as a page: by capability, with access and parameters of each. */

import { DEPRECATIONS_ID, type Deprecations, deprecationsOf } from '../../kernel/api/deprecations.ts';
import type { Endpoint } from '../../kernel/api/endpoint.ts';
import type { Capability } from '../../kernel/capability.ts';
import { inWords } from '../../platform/http/openapi/schemas.ts';
import { type Html, html, htmlPage } from '../../platform/http/pages/html.ts';

export function documentationPage(capabilities: readonly Capability[]): string {
  const documented = capabilities.filter(({ endpoints }) => endpoints.length > 0);
  const body = html`<h1>API</h1>
<p>Below <code>/api/v4</code>. For programs: <a href="/api/v4/openapi.json">openapi.json</a> (OpenAPI 3.1).
Parameters go into the query, or into a body as JSON or a form.</p>
<nav aria-label="Capabilities"><ul class="inline">
${documented.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>\n`)}
<li><a href="#${DEPRECATIONS_ID}">deprecated</a></li></ul></nav>
${documented.map(describeCapability)}${describeDeprecations(deprecationsOf(capabilities))}`;
  return htmlPage('API', body, { header: html`<header><a class="brand" href="/">Ashlar</a></header>` });
}

const describeCapability = ({ name, endpoints }: Capability): Html => html`<section>
<h2 id="${name}">${name}</h2>
${endpoints.map(describeEndpoint)}</section>
`;

const describeEndpoint = (spec: Endpoint): Html => html`<details>
<summary><code><b>${spec.method}</b> ${spec.path}</code> ${spec.summary}${
  spec.deprecated && html` <em>(deprecated: use ${spec.deprecated.use})</em>`
}</summary>
<p>${whoMayCall(spec)} ${scopes(spec)} ${conditions(spec).join(' ')}</p>
${parameters(spec)}
</details>
`;

const describeDeprecations = ({ endpoints, attributes }: Deprecations): Html => html`<section>
<h2 id="${DEPRECATIONS_ID}">Deprecated</h2>
<ul>
${endpoints.map(({ method, path, use }) => html`<li><code><b>${method}</b> ${path}</code>: use ${use}</li>\n`)}
${attributes.map(({ name, use }) => html`<li><code>${name}</code>: use ${use}</li>\n`)}</ul></section>
`;

const userRules: Record<string, string> = {
  read_user: 'Open to everybody.',
  administer_user: 'For administrators.',
  manage_own_user: 'For the user, and administrators.',
};

function whoMayCall({ access }: Endpoint): string {
  const { on, ability } = access.sentence;
  if (on === 'anyone') return 'Open to everybody.';
  if (on === 'signed_in') return 'For anybody with a credential.';
  if (on === 'instance') return 'For administrators.';
  if (on === 'user') return userRules[ability] ?? 'For whom the user allows it.';
  const named = `Needs ${ability.replaceAll('_', ' ')} on the ${on}`;
  return access.anonymous ? `${named}; public ones are open to everybody.` : `${named}.`;
}

const scopes = ({ scopes: names }: Endpoint): Html =>
  html`Scopes: ${names.slice(0, 6).map((name, index) => [index > 0 && ', ', html`<code>${name}</code>`])}${
    names.length > 6 && ' or any other'
  }.`;

const conditions = (spec: Endpoint): string[] => [
  ...(spec.tier ? [`Tier: ${spec.tier}.`] : []),
  ...(spec.offering ? ['Self-managed only.'] : []),
  ...(spec.jobToken ? ['Takes CI job tokens.'] : []),
  ...(spec.page === undefined ? [] : [typeof spec.page === 'string' ? 'Paged.' : 'Paged, by keyset too.']),
];

function parameters({ input, path }: Endpoint): Html | undefined {
  const required = new Set<string>(input.required ?? []);
  const entries = Object.entries(input.properties);
  if (entries.length === 0) return undefined;
  return html`<table>
<thead><tr><th scope="col">Parameter</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${entries.map(([name, schema]) => {
  const needed = required.has(name) || path.split('/').includes(`:${name}`);
  const { type, description } = inWords(schema);
  return html`<tr><td><code>${name}</code>${needed && html` <b>required</b>`}</td><td>${type}</td><td>${description}</td></tr>\n`;
})}</tbody>
</table>`;
}
