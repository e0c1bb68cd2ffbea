import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openApiDocument } from '../../api-gateway/openapi.js'
import { routes } from '../../api-gateway/routes.js'

/** The document as the gateway serves it. */
export const gatewayDocument = openApiDocument(routes)

/** A request and what the gateway answered. */
export interface Exchange {
  readonly method: string
  /** With the query, which is not looked at. */
  readonly path: string
  /** The JSON that was sent, if any. */
  readonly sent?: unknown
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** What of an exchange the document does not say; empty when it says everything. */
export function undocumented(exchange: Exchange): string[] {
  const { method, path, status } = exchange
  const operation = operationOf(method, path)
  const answer = operation === undefined ? NO_ROUTE[status] : operation.responses[status]
  const found = answer ?? BEFORE_ROUTING[status]
  const wrong =
    found === undefined
      ? [`status ${status} is not documented`]
      : [...wrongHeaders(exchange, found), ...wrongBody(exchange, found)]
  if (status === 200) wrong.push(...wrongRequest(exchange, operation))
  const where = `${method} ${path.slice(0, 80)} → ${status}`
  return wrong.map((what) => `${where}: ${what}\n${exchange.text.slice(0, 2_000)}`)
}

interface JsonContent {
  readonly schema: object
}
interface DocumentedAnswer {
  readonly headers: Readonly<Record<string, unknown>>
  /** Empty where the answer has no body. */
  readonly content: Readonly<Record<string, JsonContent>>
}
interface DocumentedOperation {
  readonly requestBody?: { readonly content: Readonly<Record<string, JsonContent>> }
  readonly responses: Readonly<Record<string, DocumentedAnswer>>
}

const plainError: DocumentedAnswer = {
  headers: { 'X-Request-Id': {}, 'Cache-Control': {}, Vary: {}, Allow: {} },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}
const NO_ROUTE: Readonly<Record<number, DocumentedAnswer>> = { 404: plainError, 405: plainError }
/** What the HTTP server and the relay of upgrades answer themselves. */
const BEFORE_ROUTING: Readonly<Record<number, DocumentedAnswer>> = {
  400: plainError,
  408: plainError,
  431: plainError,
}

/** The operation that answers, as the router finds it: the first path that matches, a trailing slash allowed. */
function operationOf(method: string, target: string): DocumentedOperation | undefined {
  const [path = ''] = target.split('?', 1)
  const named = method === 'HEAD' ? 'GET' : method
  const route = routes.find(
    (each) =>
      each.method === named && new RegExp(`^${each.path.replace(/:\w+/g, '[^/]+')}/?$`).test(path),
  )
  if (route === undefined) return undefined
  const item = gatewayDocument.paths[route.path.replace(/:(\w+)/g, '{$1}')]
  return item?.[route.method.toLowerCase()] as DocumentedOperation
}

/** Headers of HTTP itself, and those that every answer may carry. */
const USUAL_HEADERS = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'x-content-type-options',
  'vary',
  // Of CORS: said once for all, in the document's own description.
  'access-control-allow-origin',
  'access-control-expose-headers',
])

function wrongHeaders({ headers }: Exchange, answer: DocumentedAnswer): string[] {
  const documented = new Set(Object.keys(answer.headers).map((name) => name.toLowerCase()))
  const strange = Object.keys(headers).filter(
    (name) => !USUAL_HEADERS.has(name) && !documented.has(name),
  )
  const wrong = strange.map((name) => `header ${name} is not documented`)
  return headers['x-request-id'] === undefined ? [...wrong, 'no X-Request-Id'] : wrong
}

function wrongBody({ method, headers, text }: Exchange, { content }: DocumentedAnswer): string[] {
  if (method === 'HEAD') return []
  if (Object.keys(content).length === 0) return text === '' ? [] : ['a body']
  const sent = `${headers['content-type']?.toString()}`.split(';', 1)[0] ?? ''
  const schema = (content[sent] ?? content['*/*'])?.schema
  if (schema === undefined) return [`content type ${sent} is not documented`]
  return sent === 'application/json' ? broken(closed, schema, JSON.parse(text)) : []
}

/** Whatever is carried out must have been a documented request; null and empty text count as absent. */
function wrongRequest({ sent }: Exchange, operation: DocumentedOperation | undefined): string[] {
  const schema = operation?.requestBody?.content['application/json']?.schema
  if (schema === undefined || typeof sent !== 'object' || sent === null) return []
  const given = Object.entries(sent).filter(([, value]) => value !== null && value !== '')
  return broken(open, schema, Object.fromEntries(given)).map((why) => `accepted request: ${why}`)
}

const ajv = new Ajv2020({ strictTypes: false, validateFormats: false, allErrors: true })
ajv.addVocabulary(['components'])

/** Compiled schemas by what they were compiled from, and how objects in them meet unknown fields. */
interface Validators {
  readonly adapt: (schema: object) => object
  readonly compiled: Map<object, ValidateFunction>
}

function broken({ adapt, compiled }: Validators, schema: object, value: unknown): string[] {
  let validate = compiled.get(schema)
  if (validate === undefined) {
    const { schemas } = gatewayDocument.components
    validate = ajv.compile(adapt({ ...schema, components: { schemas } }))
    compiled.set(schema, validate)
  }
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
  )
}

/** Requests may carry more than is documented. */
const open: Validators = { adapt: (schema) => schema, compiled: new Map() }

/** Clients must ignore unknown fields; in these tests an undocumented field is an error. */
const closed: Validators = { adapt: (schema) => close(schema) as object, compiled: new Map() }

export function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, close(each)]))
  return 'properties' in fields && !('additionalProperties' in fields)
    ? { ...fields, additionalProperties: false }
    : fields
}
