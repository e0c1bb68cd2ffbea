import fc from 'fast-check'

/** A JSON Schema as the gateway's document has them. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** Of each value of a record; false where no further fields are allowed. */
  readonly additionalProperties?: Schema | false
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>
}

type Named = Readonly<Record<string, Schema>>

/** The schema with what it refers to. What stands beside a reference counts as well. */
export function resolved(schema: Schema, named: Named): Schema {
  const { $ref, ...beside } = schema
  if ($ref === undefined) return schema
  const base = resolved(named[$ref.split('/').at(-1) ?? ''] ?? {}, named)
  const [{ pattern, allOf = [] }, own] = [base, beside.allOf ?? []]
  return pattern === undefined
    ? { ...base, ...beside }
    : { ...base, ...beside, allOf: [...allOf, ...own, { pattern }] }
}

/** Values that fit a schema, to the last bound; `named` are the document's components. */
export function fitting(schema: Schema, named: Named): fc.Arbitrary<unknown> {
  const whole = resolved(schema, named)
  const { anyOf, properties } = whole
  if (whole.enum !== undefined) return fc.constantFrom(...whole.enum)
  if ('const' in whole) return fc.constant(whole.const)
  if (properties !== undefined) return fittingObject({ ...whole, properties }, named)
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((each) => fitting(each, named)))
  return fittingValue(whole, named)
}

/** With every field that is required: always, in one of the alternatives, or beside another field. */
function fittingObject(
  { properties, required = [], allOf = [], dependentRequired = {} }: Schema,
  named: Named,
): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, each]) => [name, fitting(each, named)]),
  )
  const [{ anyOf: alternatives = [{}] } = {}] = allOf
  const withAlternative = alternatives.map((alternative) =>
    fc.record(fields, { requiredKeys: [...required, ...(alternative.required ?? [])] }),
  )
  return fc.oneof(...withAlternative).map((object) => {
    const lacking = Object.entries(dependentRequired).filter(([, others]) =>
      others.some((other) => !(other in object)),
    )
    const dropped = new Set(lacking.map(([name]) => name))
    return Object.fromEntries(Object.entries(object).filter(([name]) => !dropped.has(name)))
  })
}

function fittingValue(schema: Schema, named: Named): fc.Arbitrary<unknown> {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema
  if (type === 'integer') {
    return fc.oneof(
      fc.integer({ min: minimum, max: maximum }),
      fc.constantFrom(minimum, maximum, Math.min(minimum + 1, maximum)),
    )
  }
  if (type === 'boolean') return fc.boolean()
  if (type === 'array') {
    const { items = {}, minItems: minLength = 0, maxItems = minLength + 3 } = schema
    const each = fitting(items, named)
    const few = fc.array(each, { minLength, maxLength: Math.min(minLength + 3, maxItems) })
    const most = each.map((one) => Array.from({ length: maxItems }, () => one))
    return fc.oneof({ weight: 9, arbitrary: few }, { weight: 1, arbitrary: most })
  }
  if (type === 'object') {
    const { additionalProperties: each } = schema
    const value = typeof each === 'object' ? fitting(each, named) : hostile
    return fc.dictionary(fc.string({ maxLength: 20 }), value, { maxKeys: 3 })
  }
  return type === 'string' ? fittingText(schema) : hostile
}

const LOOKAHEAD = /\(\?[!=][^()]*\)/g
/** Longest text that is drawn where the schema has no bound. */
const LONG_TEXT = 200
const PROPERTY = /\\p\{/

/** Length counts characters, as a JSON schema does. */
function fittingText({ pattern, allOf = [], minLength = 0, maxLength = Infinity }: Schema) {
  const patterns = [pattern, ...allOf.map((each) => each.pattern)].filter(
    (each) => each !== undefined,
  )
  // What is narrowed by a look ahead, or by a further pattern, is drawn without and thrown away.
  const shape = patterns.find((each) => each.startsWith('^') && !PROPERTY.test(each))
  const drawn =
    shape === undefined
      ? anyText({ minLength, maxLength: Math.min(maxLength, LONG_TEXT) })
      : fc.stringMatching(new RegExp(shape.replace(LOOKAHEAD, '')))
  const tests = patterns.map((each) => new RegExp(each, 'u'))
  return drawn.filter((text) => {
    const { length } = Array.from(text)
    return minLength <= length && length <= maxLength && tests.every((each) => each.test(text))
  })
}

const UNITS = ['grapheme', 'binary', 'grapheme-ascii'] as const

const anyText = (length: { readonly minLength: number; readonly maxLength: number }) =>
  fc.oneof(
    ...UNITS.map((unit) => fc.string({ unit, ...length })),
    fc.constantFrom(' ', '.', '..', '...', '\u00a0', '\u200b', 'a b', '\u202e', '\ufeff', '\u2028'),
    fc
      .constantFrom('x', ' ', '\u00e9', '\u{1f4a5}', '\u{e0001}', '\u{10fffd}', '\ud800')
      .map((character) => character.repeat(length.maxLength)),
  )

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
