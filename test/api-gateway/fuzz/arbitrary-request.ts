import fc from 'fast-check'
import { gatewayDocument } from '../../support/documented.js'
import { fitting, hostile, hostileText, nearly, torn, type Schema } from './arbitrary-json.js'

/** One request on its way. */
export interface FuzzedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Text as it is sent. */
  readonly body?: string
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: Schema
}

interface DocumentedOperation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

/** An operation of the document and requests made up for it. */
export interface FuzzedOperation {
  readonly name: string
  /** As the document writes it. */
  readonly path: string
  readonly isWrite: boolean
  /** What is made up also comes from spoiling what is real. */
  readonly requests: (real: RealThings) => fc.Arbitrary<FuzzedRequest>
}

export interface RealThings {
  /** Orders that would be carried out. */
  readonly bodies: readonly Record<string, unknown>[]
  /** What else would be, by the path of its operation. */
  readonly bodiesOf?: Readonly<Record<string, readonly Record<string, unknown>[]>>
  /** An `X-Service-Auth` that opens an owner's history. */
  readonly frame: string
}

const named = gatewayDocument.components.schemas as Readonly<Record<string, Schema>>

/** Every operation of the document. */
export const fuzzedOperations: readonly FuzzedOperation[] = Object.entries(
  gatewayDocument.paths,
).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    isWrite: method === 'post',
    requests: (real: RealThings) =>
      requestsOf({ method: method.toUpperCase(), path }, operation as DocumentedOperation, real),
  })),
)

function requestsOf(
  { method, path }: { readonly method: string; readonly path: string },
  { parameters = [], requestBody }: DocumentedOperation,
  real: RealThings,
): fc.Arbitrary<FuzzedRequest> {
  const of = (where: Parameter['in']) => parameters.filter((each) => each.in === where)
  const schema = requestBody?.content['application/json']?.schema
  return fc
    .record({
      segments: fc.tuple(...of('path').map((each) => text(each.schema))),
      query: queryOf(of('query')),
      headers: headersOf(of('header'), real),
      body:
        schema === undefined
          ? fc.constant(undefined)
          : bodyOf(schema, real.bodiesOf?.[path] ?? real.bodies),
    })
    .map(({ segments, query, headers, body }) => ({
      method,
      headers,
      path: filled(path, segments) + query,
      ...(body === undefined ? {} : { body }),
    }))
}

function filled(path: string, segments: readonly string[]): string {
  let next = 0
  return path.replace(/\{\w+\}/g, () => encoded(segments[next++] ?? '') || 'x')
}

/** Percent-encoded, or left alone when that is possible and was encoded before. */
function encoded(value: string): string {
  return /^[\w%.~-]*%[\w%.~-]*$/.test(value)
    ? value
    : encodeURIComponent(Buffer.from(value).toString())
}

/** A parameter as text: one that fits more often than not. */
const text = (schema: Schema): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 2, arbitrary: fitting(schema, named).map(String) },
    { weight: 1, arbitrary: hostileText.map((each) => each.slice(0, 3_000)) },
  )

const SYMBOLS = ['cNGN-USDC', 'USDCcNGN-SPOT', 'USDC-cNGN-30NOV26', 'cngn-usdc']

function queryOf(parameters: readonly Parameter[]): fc.Arbitrary<string> {
  if (parameters.length === 0) return fc.constant('')
  const some = parameters.map(({ name, schema }) =>
    fc.tuple(
      fc.constant(name),
      name === 'symbol' ? fc.oneof(fc.constantFrom(...SYMBOLS), text(schema)) : text(schema),
    ),
  )
  const named = parameters.some(({ name }) => name === 'symbol')
  const first = fc.constant(named ? 'symbol=cNGN-USDC&' : '')
  return fc
    .tuple(fc.oneof(first, fc.constant('')), fc.array(fc.oneof(...some), { maxLength: 4 }))
    .map(([known, pairs]) =>
      pairs.reduce((query, [name, value]) => `${query}${name}=${encoded(value)}&`, `?${known}`),
    )
}

function headersOf(
  parameters: readonly Parameter[],
  { frame }: RealThings,
): fc.Arbitrary<Record<string, string>> {
  const fields = parameters.map(({ name, schema }) => {
    const made = hostile.map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'))
    const value = fc.oneof(
      { weight: 4, arbitrary: fc.constant(frame) },
      { weight: 1, arbitrary: fitting(schema, named).map(String) },
      { weight: 1, arbitrary: made.map((each) => each.slice(0, 4_000)) },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 50 }) },
    )
    return fc.tuple(fc.constant(name), value)
  })
  if (fields.length === 0) return fc.constant({})
  return fc.array(fc.oneof(...fields), { maxLength: 1 }).map((pairs) => Object.fromEntries(pairs))
}

function bodyOf(schema: Schema, real: readonly Record<string, unknown>[]): fc.Arbitrary<string> {
  const made = fitting(schema, named) as fc.Arbitrary<Record<string, unknown>>
  const { properties = {} } = named[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
  const names = Object.keys(properties)
  const taken = fc.constantFrom(...real)
  const spoiledAction = fc
    .tuple(taken, nearly(taken.map(actionOf), Object.keys(named.Action?.properties ?? {})))
    .map(([body, action_json]) => ({ ...body, action_json }))
  const object = fc.oneof(taken, made, nearly(made, names), nearly(taken, names), spoiledAction)
  const json = object.map((each) => JSON.stringify(each))
  return fc.oneof(
    { weight: 6, arbitrary: json },
    { weight: 2, arbitrary: torn(json) },
    { weight: 1, arbitrary: hostile.map((value) => JSON.stringify(value)) },
  )
}

const actionOf = ({ action_json }: Record<string, unknown>): Record<string, unknown> =>
  (action_json ?? {}) as Record<string, unknown>
