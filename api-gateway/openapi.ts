import { z } from 'zod'
import type { EndpointAnswer, EndpointOperation, ResponseHeader, Route } from './route.js'

export type Json = Readonly<Record<string, unknown>>

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument extends Json {
  readonly openapi: '3.1.0'
  readonly paths: Readonly<Record<string, Json>>
  readonly components: Json & { readonly schemas: Readonly<Record<string, Json>> }
}

/** Version of the interface, which is not the version of this software. */
export const INTERFACE_VERSION = '1.0.0'

const DESCRIPTION = `
An order book settled on chain. Orders, deposits and withdrawals are signed actions; everything else is public or proves its owner by a signed frame.

Amounts, prices, nonces and account ids are text; \`expiry\`, \`trade_id\` and unix times are integers. Fields, headers and
optional parameters may be added at any time, so ignore what you do not know. Every refusal is \`{error, code, ...}\`.

What the venue promises stands at [docs/rules](docs/rules), one sentence a rule; an id such as ORD-001 names one. The feed is described at
[docs/feed](docs/feed), every code with its cause and cure at [docs/codes](docs/codes), the way to a first fill at
[docs/first-fill](docs/first-fill). Market makers begin at [docs/start](docs/start).

Of an order wait for \`final\`, not for a status: an order that is \`cancelled\` with a \`pending_amount\` may still fill. Its \`filled_amount\`, \`filled_quote\`,
\`average_price\` and \`fee_paid\` are those of its own fills.

Any path may answer 405 to another method, 404 when it does not exist, and 400, 408 or 431 when the request is not a proper
HTTP, too slow or has headers that are too large; all with the same error body. The feed is a WebSocket at \`/v1/ws\`.
`.trim()

/** Builds the document of exactly these routes; every schema that has a name stands once, under components. */
export function openApiDocument(
  routes: readonly Pick<Route, 'method' | 'path' | 'operation'>[],
): OpenApiDocument {
  const schemas: Record<string, Json> = {}
  const schemaOf = (schema: z.ZodType): Json => toJson(schema, schemas)
  const paths: Record<string, Record<string, Json>> = {}
  for (const { method, path, operation } of routes) {
    const item = (paths[documentPath(path)] ??= {})
    item[method.toLowerCase()] = operationJson(operation, schemaOf)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Order-book venue',
      version: INTERFACE_VERSION,
      summary: 'Spot, perpetual and dated futures markets of cNGN and USDC, settled on chain',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this document came from' }],
    tags: TAGS,
    security: [],
    paths,
    components: { schemas, headers: HEADERS, securitySchemes: SECURITY_SCHEMES },
  }
}

/** What proves who asks, by the header that carries it. */
const SCHEME_OF_HEADER: Readonly<Record<string, string>> = {
  'X-Service-Auth': 'serviceAuth',
  'X-Index-Token': 'indexToken',
}

const SECURITY_SCHEMES = {
  serviceAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Auth',
    description:
      'A frame that its owner has signed, as the parameter of this name describes it. There are no API keys: one frame serves every private read until it expires.',
  },
  indexToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Index-Token',
    description: 'The operator’s token for samples of the index.',
  },
}

/** The schemes of the headers that an operation takes; one whose header may be left out may be. */
function securityOf({ headers }: EndpointOperation): Json[] {
  const named = Object.entries(headers?.shape ?? {}).flatMap(([name, schema]) => {
    const scheme = SCHEME_OF_HEADER[name]
    return scheme === undefined ? [] : [{ scheme, isOptional: mayBeAbsent(schema as z.ZodType) }]
  })
  return named.flatMap(({ scheme, isOptional }) => [
    ...(isOptional ? [{}] : []),
    { [scheme]: [] as string[] },
  ])
}

const mayBeAbsent = (schema: z.ZodType): boolean => schema.safeParse(undefined).success

/** `/v1/orders/:order_id` as the document writes it. */
const documentPath = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

/** The chapter of rules of a tag, by its heading. */
const rulesOf = (chapter: string) => ({
  externalDocs: { description: 'Rules', url: `docs/rules#${chapter}` },
})

const TAGS = [
  { name: 'Orders', description: 'Place, cancel and look up', ...rulesOf('orders') },
  {
    name: 'Deposits and withdrawals',
    description: 'Move USDC and cNGN in and out',
    ...rulesOf('deposits-and-withdrawals'),
  },
  { name: 'History', description: 'One’s own orders and fills', ...rulesOf('reads') },
  { name: 'Market data', description: 'Public reads of one market', ...rulesOf('reads') },
  {
    name: 'Charts',
    description: 'The datafeed of TradingView’s charts (UDF)',
    ...rulesOf('reads'),
  },
  { name: 'Venue', description: 'Whether it is well, and what time it is there' },
  { name: 'Documentation', description: 'This document' },
]

const text = (description: string): Json => ({ description, schema: { type: 'string' } })

/** Of every answer. */
const COMMON = ['X-Request-Id', 'Cache-Control', 'Vary'] as const

const HEADERS: Readonly<Record<ResponseHeader | (typeof COMMON)[number], Json>> = {
  'X-Request-Id': text(
    'Names the request in our logs; the caller’s own when it sent a harmless one.',
  ),
  Deprecation: text('`true` when the request used a deprecated identifier.'),
  Sunset: text('When that identifier stops resolving.'),
  'X-Canonical-Market': text('The identifier to use instead.'),
  'Cache-Control': text('How long the answer may be kept; `no-store`: not at all.'),
  'RateLimit-Limit': text('Orders that an owner may send at once, where the operator limits them.'),
  'RateLimit-Remaining': text('How many of them are left to the owner.'),
  'RateLimit-Reset': text('Seconds until all of them are left again.'),
  'X-Feed-Seq': text(
    'Of each market that the answer is about, the number of the newest change that it shows: `<market>=<seq>, <market>=<seq>`. Sent back as `min_seq` a later read shows at least that.',
  ),
  'Retry-After': text('Seconds after which the same request may be sent again.'),
  Upgrade: text('The protocol to upgrade to: `websocket`.'),
  ETag: text('Changes with the answer; sent back as `If-None-Match` it saves an unchanged one.'),
  Vary: text('Headers of the request by which the answer differs.'),
  'Content-Encoding': text('`gzip` when the client accepts it and the answer is large.'),
  'Content-Security-Policy': text('What the page may load: only from here.'),
}

type ToSchema = (schema: z.ZodType) => Json

function operationJson(operation: EndpointOperation, schemaOf: ToSchema): Json {
  const { id, tag, summary, description, body } = operation
  const parameters = [
    ...parametersOf('path', operation.path, schemaOf),
    ...parametersOf('query', operation.query, schemaOf),
    ...parametersOf('header', operation.headers, schemaOf),
  ]
  const responses = Object.entries(operation.responses).map(
    ([status, answer]) => [status, answerJson(Number(status), answer, schemaOf)] as const,
  )
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    security: securityOf(operation),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [JSON_TYPE]: { schema: schemaOf(body) } } } }),
    responses: Object.fromEntries(responses),
  }
}

const JSON_TYPE = 'application/json'

/** The statuses of answers that have no body. */
const BODILESS = [204, 304]

function answerJson(
  status: number,
  { description, body, contentType, headers = [] }: EndpointAnswer,
  schemaOf: ToSchema,
) {
  const schema = body === undefined ? { type: 'string' } : schemaOf(body)
  const named = [...COMMON, ...headers].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ])
  return {
    description,
    headers: Object.fromEntries(named) as Json,
    content: BODILESS.includes(status) ? {} : { [contentType ?? JSON_TYPE]: { schema } },
  }
}

function parametersOf(
  where: 'path' | 'query' | 'header',
  fields: z.ZodObject | undefined,
  schemaOf: ToSchema,
): Json[] {
  return Object.entries(fields?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field as z.ZodType)
    const required = where === 'path' || !mayBeAbsent(field as z.ZodType)
    return {
      name,
      in: where,
      required,
      ...(description === undefined ? {} : { description }),
      schema,
    }
  })
}

/** A schema as JSON; the named ones that it uses are put into `named` and referred to. */
export function toJson(schema: z.ZodType, named: Record<string, Json>): Json {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'throw' })
  const fields = Object.entries(rereferred(json) as Json)
  const definitions = fields.find(([name]) => name === '$defs')?.[1] ?? {}
  Object.assign(named, definitions)
  return Object.fromEntries(fields.filter(([name]) => name !== '$defs' && name !== '$schema'))
}

/** The same value with references into `$defs` pointed at the document's components, and ids of rules at the rules. */
function rereferred(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rereferred)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      typeof each === 'string' ? rewritten(key, each) : rereferred(each),
    ]),
  )
}

function rewritten(key: string, text: string): string {
  if (key === '$ref') return text.replace('#/$defs/', '#/components/schemas/')
  return key === 'description' ? text.replace(RULE_ID, '[$&](docs/rules#$&)') : text
}

const RULE_ID = /\b(?:ORD|AUT|MAT|SET|COD|CAN|STR|MON|REA|PER|FUT|TRA|OPE)-\d{3}\b/g
