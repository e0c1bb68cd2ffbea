import fc from 'fast-check'

/** A JSON Schema as the gateway's document has them. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** Values that fit a schema, as far as types, patterns and bounds go; `named` are the document's components. */
export function fitting(
  schema: Schema,
  named: Readonly<Record<string, Schema>>,
): fc.Arbitrary<unknown> {
  const { $ref, anyOf, properties } = schema
  if ($ref !== undefined) return fitting(named[$ref.split('/').at(-1) ?? ''] ?? {}, named)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, each]) => [name, fitting(each, named)])
    return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
      requiredKeys: [...(schema.required ?? [])],
    })
  }
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((each) => fitting(each, named)))
  return fittingValue(schema, named)
}

function fittingValue(
  schema: Schema,
  named: Readonly<Record<string, Schema>>,
): fc.Arbitrary<unknown> {
  const { type, pattern, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema
  const { minLength = 0, maxLength = 100 } = schema
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum })
  if (type === 'boolean') return fc.boolean()
  if (type === 'array') {
    const { items = {}, minItems: minLength = 0 } = schema
    return fc.array(fitting(items, named), { minLength, maxLength: minLength + 3 })
  }
  if (type !== 'string') return hostile
  if (pattern === undefined) return fc.string({ unit: 'grapheme', minLength, maxLength })
  return fc.stringMatching(new RegExp(pattern)).filter((text) => text.length <= maxLength)
}

const hostileTexts = [
  ...[
    '',
    ' ',
    '0',
    '-0',
    '-1',
    '+1',
    '1e5',
    '1e400',
    '0x10',
    '0b1',
    '1_000',
    '１２',
    '.5',
    '5.',
    'NaN',
  ],
  ...[
    'Infinity',
    'null',
    'undefined',
    'true',
    '__proto__',
    'constructor',
    'toString',
    '[object Object]',
  ],
  ...[
    '\u0000',
    'a\r\nb',
    '\ud800',
    '\udc00\ud800',
    '\u202e',
    '\ufeff',
    '💥',
    'é'.repeat(500),
    '%00',
    '%zz',
  ],
  ...[
    "'; DROP TABLE orders;--",
    '" OR 1=1 --',
    'commands.*.>',
    '../../etc/passwd',
    '<script>',
    '${7*7}',
  ],
  ...[
    '9'.repeat(78),
    '9'.repeat(79),
    '9'.repeat(40_000),
    `0.${'0'.repeat(30_000)}1`,
    '('.repeat(5_000),
  ],
  ...[
    `0x${'ff'.repeat(20)}`,
    `0x${'0'.repeat(64)}`,
    `0x${'ab'.repeat(10_000)}`,
    '2026-13-01T00:00:00Z',
  ],
  ...['18446744073709551616', (2n ** 256n).toString(), (2n ** 255n).toString(), '9007199254740993'],
]

const nested = (depth: number): unknown =>
  depth === 0 ? 0 : depth % 2 === 0 ? [nested(depth - 1)] : { a: nested(depth - 1) }

/** Text that code has broken on before. */
export const hostileText = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({ unit: 'binary', maxLength: 200 }),
)

/** Any JSON value, and those that code has broken on before. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    ...[null, true, 0, -0, -1, 1.5, 2 ** 53, 1e308, 5e-324, [], {}, [[]]],
    ...[nested(3), nested(7), nested(8), nested(2_000)],
    JSON.parse('{"__proto__":{"order_id":"x","length":1},"constructor":{"prototype":{"x":1}}}'),
  ),
  fc.jsonValue({ maxDepth: 4 }),
)

/** The object with one field replaced, dropped or added. */
export function nearly(
  valid: fc.Arbitrary<Record<string, unknown>>,
  names: readonly string[],
): fc.Arbitrary<Record<string, unknown>> {
  const name = fc.oneof(fc.constantFrom(...names), fc.constantFrom('__proto__', 'x'))
  return fc.tuple(valid, name, hostile, fc.boolean()).map(([object, field, value, dropped]) => {
    const others = Object.entries(object).filter(([each]) => each !== field)
    return Object.fromEntries(dropped ? others : [...others, [field, value]])
  })
}

/** The text of a JSON object after an accident: cut, doubled, or with a piece of it replaced. */
export function torn(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const pieces = [
    '',
    '"',
    '{',
    '}',
    '[',
    ',',
    '\\',
    '1e400',
    '"__proto__":{"x":1},',
    '\u0000',
    '\ud83d',
  ]
  return fc
    .tuple(text, fc.nat(2_000), fc.nat(20), fc.constantFrom(...pieces))
    .map(([whole, at, length, piece]) => {
      const from = whole.length === 0 ? 0 : at % whole.length
      return whole.slice(0, from) + piece + whole.slice(from + length)
    })
}
