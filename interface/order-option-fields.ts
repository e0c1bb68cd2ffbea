import { z } from 'zod'
import {
  ORDER_OPTIONS,
  type KeptOption,
  type OptionName,
  type OrderOption,
  type SentOption,
} from './order-options.js'
import { leaseId } from './values.js'

/** The options of an order as fields of the documents (order-options.ts). */

type SentFields = { readonly [Name in OptionName]: z.ZodOptional<z.ZodType<SentOption<Name>>> }
type ShownFields = { readonly [Name in OptionName]: z.ZodOptional<z.ZodType<KeptOption<Name>>> }

function sentSchema({ declared }: OrderOption): z.ZodType {
  if ('flag' in declared) return z.boolean()
  if ('lease' in declared) return leaseId
  const words = z.enum(declared.choices)
  return declared.named === undefined ? words : words.meta(declared.named)
}

/** Of words with a name, that of the words without the usual one. */
function shownSchema({ declared, kept }: OrderOption, sent: z.ZodType): z.ZodType {
  if ('flag' in declared) return z.literal(true)
  if ('lease' in declared || declared.usual === undefined) return sent
  const [only, ...others] = kept as [string, ...string[]]
  return others.length === 0 ? z.literal(only) : z.enum([only, ...others])
}

const schemas = ORDER_OPTIONS.map((option) => {
  const sent = sentSchema(option)
  return { option, sent, shown: shownSchema(option, sent) }
})

/** Fields of the body of a new order. */
export const sentOptions = Object.fromEntries(
  schemas.map(({ option: { name, declared }, sent }) => [
    name,
    sent.optional().describe(declared.sent),
  ]),
) as unknown as SentFields

/** Fields of the order record. */
export const shownOptions = Object.fromEntries(
  schemas.map(({ option: { name, declared }, shown }) => [
    name,
    shown.optional().describe(declared.shown),
  ]),
) as unknown as ShownFields
