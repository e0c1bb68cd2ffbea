import type { Json } from '../openapi.js'
import { asyncApiDocument } from '../asyncapi.js'

/** The WebSocket as a page to browse, as Markdown: each frame with its fields, from the AsyncAPI document. */
export function socketPage(): string {
  const { info, operations, components } = asyncApiDocument() as unknown as SocketDocument
  const frames = ({ messages }: SocketOperation): string[] =>
    messages.flatMap(({ $ref }) => {
      const message = components.messages[$ref.split('/').at(-1) ?? '']
      return message === undefined ? [] : frame(message, components.schemas)
    })
  return [
    `# ${info.title}`,
    '',
    info.description,
    '',
    'The same for programs: [asyncapi.json](../v1/asyncapi.json). Codes of `error` frames: [codes](codes).',
    '',
    ...Object.values(operations).flatMap((operation) => [
      `## ${operation.summary}`,
      '',
      ...frames(operation),
    ]),
  ].join('\n')
}

interface SocketDocument {
  readonly info: { readonly title: string; readonly description: string }
  readonly operations: Readonly<Record<string, SocketOperation>>
  readonly components: {
    readonly messages: Readonly<Record<string, SocketMessage>>
    readonly schemas: Readonly<Record<string, Json>>
  }
}

interface SocketOperation {
  readonly summary: string
  readonly messages: readonly { readonly $ref: string }[]
}

interface SocketMessage {
  readonly title: string
  readonly summary?: string
  readonly payload: { readonly $ref: string }
}

type Schemas = Readonly<Record<string, Json>>

function frame({ title, summary = '', payload }: SocketMessage, schemas: Schemas): string[] {
  const schema = resolved(payload, schemas)
  return [`### ${title}`, '', summary, '', ...fieldTable(schema, schemas, ''), '']
}

/** The fields of an object, and those of its objects with a path. */
function fieldTable(schema: Json, schemas: Schemas, prefix: string): string[] {
  const rows = fieldRows(schema, schemas, prefix)
  return rows.length === 0 ? [] : ['| field | type | meaning |', '| - | - | - |', ...rows]
}

const MAX_DEPTH = 2

function fieldRows(schema: Json, schemas: Schemas, prefix: string): string[] {
  const required = new Set((schema.required ?? []) as readonly string[])
  const fields = (schema.properties ?? {}) as Readonly<Record<string, Json>>
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const known = resolved(field, schemas)
    const text = (describe(field) ?? describe(known) ?? '').replace(/[|\n]/g, ' ')
    const needed = required.has(name) ? '' : ' (optional)'
    const own = `| \`${path}\` | ${typeOf(field, schemas)}${needed} | ${text} |`
    const isDeep = path.split('.').length >= MAX_DEPTH
    return isDeep ? [own] : [own, ...fieldRows(known, schemas, `${path}.`)]
  })
}

const describe = ({ description }: Json): string | undefined =>
  typeof description === 'string' ? description : undefined

function resolved(schema: Json, schemas: Schemas): Json {
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined
  return (name === undefined ? schema : schemas[name]) ?? schema
}

function typeOf(schema: Json, schemas: Schemas): string {
  if (typeof schema.$ref === 'string') {
    const known = resolved(schema, schemas)
    return known.type === 'object' ? (schema.$ref.split('/').at(-1) ?? '') : typeOf(known, schemas)
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => `\`${one}\``).join(', ')
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as Json, schemas)}`
  return typeof schema.type === 'string' ? schema.type : 'any'
}
