import { z } from 'zod'
import type { SeenSeqs } from '../client/index.js'
import { request, urlOf } from '../client/request.js'
import { objectSchema, ToolRefused, type Arguments, type Schema, type Tool } from './tool.js'

/** Tools that read, made from the venue's own OpenAPI document. */

/** The venue's document is not one that tools can be made from. */
export class BadDocument extends Error {
  override readonly name = 'BadDocument'
}

const Parameter = z.object({
  name: z.string().max(128),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()),
})

const Operation = z.object({
  operationId: z.string().regex(/^\w{1,64}$/),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().optional(),
  parameters: z.array(Parameter).max(50).optional(),
  responses: z.record(z.string(), z.object({ content: z.record(z.string(), z.unknown()) })),
})
type Operation = z.infer<typeof Operation>

const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
})
type Document = z.infer<typeof Document>

export interface ReadParts {
  readonly venueUrl: string
  /** What was seen of the markets: reads show at least that. */
  readonly seen: SeenSeqs
  /** The `X-Service-Auth` of the owner, signed anew when it must be; absent: private reads are no tools. */
  readonly frame?: () => Promise<string>
}

const FRAME = 'X-Service-Auth'
/** What this program fills in. */
const OWN = new Set(['min_seq', FRAME])
/** These say what other tools say, in the terms of listing sites and charts, or are about the documents. */
const LEFT_OUT = /^(?!\/v1\/)|^\/v1\/integrations\/|\.json$/
const MAX_TOOLS = 100

/**
 * A tool for each operation of the document that reads and answers JSON, under its `operationId`: without the endpoints of listing sites
 * and charts, and without a key also without private reads. Throws BadDocument.
 */
export function readToolsOf(document: unknown, parts: ReadParts): Tool[] {
  const parsed = Document.safeParse(document)
  if (!parsed.success) throw new BadDocument(z.prettifyError(parsed.error).slice(0, 2_000))
  const { paths, components } = parsed.data
  const tools = Object.entries(paths).flatMap(([path, { get }]) => {
    if (get === undefined || LEFT_OUT.test(path)) return []
    if (get.responses['200']?.content['application/json'] === undefined) return []
    const needsFrame = get.parameters?.some(({ name, required }) => name === FRAME && required)
    if (needsFrame === true && parts.frame === undefined) return []
    return [toolOf(path, get, { ...parts, schemas: components.schemas })]
  })
  if (tools.length > MAX_TOOLS) throw new BadDocument(`it has more than ${MAX_TOOLS} reads`)
  return tools
}

interface ToolParts extends ReadParts {
  readonly schemas: Document['components']['schemas']
}

function toolOf(path: string, operation: Operation, parts: ToolParts): Tool {
  const { operationId: name, summary, description, parameters = [] } = operation
  const takesFrame = parameters.some((each) => each.name === FRAME)
  const takesSeqs = parameters.some((each) => each.name === 'min_seq')
  const given = parameters.filter((each) => each.in !== 'header' && !OWN.has(each.name))
  const properties = given.map((each) => {
    const schema = withoutRefs(each.schema, parts.schemas)
    return [each.name, described(schema, each.description)] as const
  })
  const required = given.filter((each) => each.required === true).map((each) => each.name)
  return {
    name,
    description: [`${summary}.`, description, `GET ${path}`].filter(Boolean).join('\n'),
    inputSchema: objectSchema(Object.fromEntries(properties), required),
    isRead: true,
    async call(given) {
      const { venueUrl, seen, frame } = parts
      const query = takesSeqs ? { ...queryOf(path, given), min_seq: seen.minSeq() } : given
      const url = urlOf(venueUrl, pathOf(path, given), queryOf(path, query))
      const headers = takesFrame && frame !== undefined ? { [FRAME]: await frame() } : {}
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      return bounded(await request(url, { headers, signal }, { seen }))
    },
  }
}

const TIMEOUT_MS = 10_000

const described = (schema: Schema, description: string | undefined): Schema =>
  description === undefined ? schema : { ...schema, description }

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** `/v1/orders/{order_id}` with what is given. */
const pathOf = (path: string, given: Arguments): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(given[name] ?? '')))

/** What is given besides the path. */
const queryOf = (path: string, given: Arguments): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([name, value]) => value !== undefined && !path.includes(`{${name}}`))
      .map(([name, value]) => [name, textOf(value)]),
  )

/** Characters of the longest answer: an assistant reads all of it. */
const MAX_ANSWER = 100_000

function bounded(answer: unknown): unknown {
  const { length } = JSON.stringify(answer)
  if (length <= MAX_ANSWER) return answer
  throw new ToolRefused(
    'answer_too_long',
    `the answer has ${length} characters, more than ${MAX_ANSWER}`,
    'Ask for less: a lower limit or depth, a shorter time.',
  )
}

/** Schemas within schemas, of parameters: more is a circle. */
const MAX_DEPTH = 20

/** The schema with what it refers to in its place. */
function withoutRefs(schema: unknown, schemas: ToolParts['schemas'], depth = 0): Schema {
  const inline = (value: unknown, at: number): unknown => {
    if (at > MAX_DEPTH) throw new BadDocument('a schema refers to itself')
    if (Array.isArray(value)) return value.map((each) => inline(each, at + 1))
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...rest } = value as Record<string, unknown>
    if (typeof $ref === 'string') return { ...referred($ref, at), ...rest }
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, inline(each, at + 1)]),
    )
  }
  const referred = (ref: string, at: number): object => {
    const found = schemas[ref.slice('#/components/schemas/'.length)]
    if (found === undefined) throw new BadDocument(`nothing is at ${ref}`)
    return inline(found, at + 1) as object
  }
  return inline(schema, depth) as Schema
}
