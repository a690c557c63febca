/** Writes docs/deprecations.md out of the endpoints and their schemas. */
import { type Deprecations, deprecationsOf } from '../src/kernel/api/deprecations.ts';
import type { Capability } from '../src/kernel/capability.ts';

/** The text of docs/deprecations.md. */
export function renderDeprecationsDocs(capabilities: readonly Capability[]): string {
  const { endpoints, attributes } = deprecationsOf(capabilities);
  return `# Deprecations

<!-- Generated from the endpoints by \`npm run generate\`: change it there. -->

What is deprecated goes on as long as the API has version 4. An endpoint answers with \`Deprecation\` (RFC 9745) and a
\`Link\` with \`rel="deprecation"\`; openapi.json marks endpoints and attributes alike.

## Endpoints

| Endpoint | Use |
|---|---|
${endpoints.map(({ method, path, use }) => `| \`${method} ${path}\` | ${code(use)} |`).join('\n')}

## Attributes

| Attribute | Use | In requests of | In records of |
|---|---|---|---|
${attributes.map(attributeRow).join('\n')}
`;
}

const code = (use: string): string => (/^([A-Z]+ )?\//.test(use) ? `\`${use}\`` : use);

const attributeRow = ({ name, use, requests, records }: Deprecations['attributes'][number]): string =>
  `| \`${name}\` | ${use} | ${requests.join(', ')} | ${records.join(', ')} |`;
