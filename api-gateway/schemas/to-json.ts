import { z } from 'zod'

export type Json = Readonly<Record<string, unknown>>

/** A schema as JSON; the named ones that it uses are put into `named` and referred to. */
export function toJson(schema: z.ZodType, named: Record<string, Json>): Json {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'throw' })
  const fields = Object.entries(rereferred(json) as Json)
  const definitions = fields.find(([name]) => name === '$defs')?.[1] ?? {}
  Object.assign(named, definitions)
  return Object.fromEntries(fields.filter(([name]) => name !== '$defs' && name !== '$schema'))
}

/** The same value with references into `$defs` pointed at the document's components. */
function rereferred(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rereferred)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === '$ref' && typeof each === 'string'
        ? each.replace('#/$defs/', '#/components/schemas/')
        : rereferred(each),
    ]),
  )
}
