import type { DocsExamples } from '../../interface/signing.js'
import { mendElements } from './mend-elements.js'

/** The page of the interface: Swagger UI with the examples of this venue filled in. It loads from nowhere else. */

interface DocumentedField {
  readonly name: string
  example?: unknown
}
interface DocumentedCall {
  readonly parameters?: readonly DocumentedField[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { example?: unknown }>> }
}
interface DocumentedPaths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedCall>>>>
}
/** Of the bundle that the page loads before. */
declare const SwaggerUIBundle: ((options: object) => void) & { presets: { apis: unknown } }

const read = async <T>(path: string): Promise<T> => (await (await fetch(path)).json()) as T

/** The page is of use without examples, too. */
const readExamples = (): Promise<DocsExamples> =>
  read<DocsExamples>('docs/examples.json').catch(() => ({ parameters: {}, bodies: {} }))

const [spec, { parameters, bodies }] = await Promise.all([
  read<DocumentedPaths>('v1/openapi.json'),
  readExamples(),
])
for (const [path, operations] of Object.entries(spec.paths)) {
  for (const operation of Object.values(operations)) {
    for (const field of operation.parameters ?? []) {
      if (field.name in parameters) field.example = parameters[field.name]
    }
    const content = operation.requestBody?.content['application/json']
    if (content !== undefined && path in bodies) content.example = bodies[path]
  }
}
SwaggerUIBundle({
  spec,
  dom_id: '#page',
  // Its links would stand within buttons.
  deepLinking: false,
  syntaxHighlight: { theme: 'obsidian' },
  tryItOutEnabled: true,
  // Without it no other host is asked for a badge.
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
})
mendElements(document.body)
