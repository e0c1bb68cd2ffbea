import type { OrderEntrySpec, MarketPresentation } from '../core/model/market.js'
import type { RegisterEntry, MarketTexts } from '../core/contracts/market-register.js'
import { oneOf, text, whole } from '../core/wire/codec.js'
import { list, optional, struct, union } from '../core/wire/compound.js'
import { message, since, storedText, WIRE_VERSION } from './envelope.js'
import { marketOpening, operatorProof, type OperatorProof } from './markets.js'

/** The stream that is the register of markets, and how an operator has markets registered. */

/** Most markets of one registration, and with it of a first import: an entry takes some 2 KB of the message. */
export const MAX_REGISTERED = 256

export const whyTooMany = (entries: readonly unknown[]): string | undefined =>
  entries.length > MAX_REGISTERED
    ? `${entries.length} markets at once, of at most ${MAX_REGISTERED}`
    : undefined

const entry = struct<RegisterEntry>({
  opening: marketOpening,
  texts: struct<MarketTexts>({
    aliases: list(text),
    orderEntry: optional(
      struct<OrderEntrySpec>({
        name: text,
        orientation: oneOf<OrderEntrySpec['orientation']>({ inverted: true, identity: true }),
      }),
    ),
    presentation: struct<MarketPresentation>({
      baseAssetSymbol: text,
      quoteAssetSymbol: text,
      displayName: text,
      displayLabel: text,
      settlementNote: text,
      uiPriceUnit: text,
      uiSizeUnit: text,
      uiSideMeaning: text,
      enginePriceUnit: text,
      engineAmountUnit: text,
      uiPriceToEngine: text,
      uiSizeToEngine: text,
    }),
  }),
})
const entries = list(entry, 1, MAX_REGISTERED)

/** What is registered together, by whom and why. */
export interface RegistrationOrder {
  readonly by: string
  readonly reason: string
  readonly entries: readonly RegisterEntry[]
}

/** One message of the register. */
export interface Registration extends RegistrationOrder {
  /** Unix milliseconds of the order intake's clock; absent of what release 0.3.0 registered. */
  readonly atMs?: number
}

const wanted = since(WIRE_VERSION, struct<RegistrationOrder>({ by: text, reason: text, entries }))

/** Since version 11 with its time. */
export const {
  version: REGISTRATION_VERSION,
  encode: encodeRegistration,
  decode: decodeRegistration,
} = message(
  'registration',
  wanted.next(
    struct<Registration>({ by: text, reason: text, entries, atMs: optional(whole) }),
    (older) => older,
  ),
)

const wantedText = storedText('registration that is asked for', wanted)

/** Asked on `askRegister`. */
export interface RegisterRequest extends RegistrationOrder {
  /** The end of the register from which the entries were made: at another one they are refused. */
  readonly after_seq: number
  readonly proof?: OperatorProof
}

/** The bytes that an operator signs: everything that the request says. */
export const registerText = (
  { after_seq, ...registration }: Omit<RegisterRequest, 'proof'>,
  { key, issued_at_ms, nonce }: Omit<OperatorProof, 'signature'>,
): Uint8Array => {
  const { by, reason, entries } = registration
  const said = wantedText.write({ by, reason, entries })
  return Buffer.from(
    JSON.stringify(['venue register command', after_seq, said, key, issued_at_ms, nonce]),
  )
}

export const { encode: encodeRegisterRequest, decode: decodeRegisterRequest } = message(
  'register request',
  since(
    WIRE_VERSION,
    struct<RegisterRequest>({
      by: text,
      reason: text,
      entries,
      after_seq: whole,
      proof: optional(operatorProof),
    }),
  ),
)

/** `registered` once the entries are durable; `stale` at another end of the register, which the asker reads again. */
export type RegisterAnswer =
  | { readonly kind: 'registered'; readonly seq: number }
  | { readonly kind: 'stale' }
  | { readonly kind: 'refused'; readonly message: string }

export const { encode: encodeRegisterAnswer, decode: decodeRegisterAnswer } = message(
  'register answer',
  since(
    WIRE_VERSION,
    union<RegisterAnswer>({ registered: { seq: whole }, stale: {}, refused: { message: text } }),
  ),
)
