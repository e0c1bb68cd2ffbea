import type { ContractType, MarketStanding } from '../core/model/market.js'
import type {
  MarketIdentity,
  MarketOpening,
  MarketRules,
  MarketTerms,
} from '../core/model/market-terms.js'
import {
  address,
  amountE18,
  flag,
  oneOf,
  priceE18,
  quoteE18,
  text,
  uint,
  whole,
  type Codec,
} from '../core/wire/codec.js'
import { appended, dictionary, mapped, optional, struct, union } from '../core/wire/compound.js'
import { message, since, storedText, WIRE_VERSION } from './envelope.js'

/** Markets as logs, feeds, checkpoints and stored positions hold them. */

export const marketIdentity: Codec<MarketIdentity> = struct<MarketIdentity>({
  market: text,
  ordinal: whole,
  contractType: mapped(text, String, (name) => name as ContractType),
  contractMultiplier: uint,
  amountScale: uint,
  makerFeeBps: whole,
  assetAddress: address,
  subId: uint,
  quoteAssetAddress: address,
  tradeModuleAddress: address,
  marginManagerAddress: address,
})

export const marketRules: Codec<MarketRules> = struct<MarketRules>({
  takerFeeBps: whole,
  tickSize: priceE18,
  minSize: amountE18,
  amountStep: optional(amountE18),
  minNotional: appended(quoteE18),
  openOrderLimit: appended(whole),
})

/** Rules of which only those that change are stated. */
export const rulesChange = struct<Partial<MarketRules>>({
  takerFeeBps: optional(whole),
  tickSize: optional(priceE18),
  minSize: optional(amountE18),
  amountStep: optional(amountE18),
  minNotional: appended(quoteE18),
  openOrderLimit: appended(whole),
})

export const marketOpening = struct<MarketOpening>({
  identity: marketIdentity,
  rules: marketRules,
  enabled: flag,
})

export const marketTerms = struct<MarketTerms>({
  identity: marketIdentity,
  rules: marketRules,
  enabled: flag,
  standing: struct<MarketStanding>({
    status: oneOf<MarketStanding['status']>({ open: true, paused: true, held: true }),
    reason: optional(text),
  }),
})

/** Terms as a reader of the feed stores them with its position. */
export const termsText = storedText('stored terms', since(WIRE_VERSION, marketTerms))

/** What an operator asks for. `show` changes nothing; the fields of `set` have the names and texts of a market file. */
export type MarketChange =
  | { readonly kind: 'show' }
  | { readonly kind: 'pause' | 'resume' | 'disable' | 'enable' | 'accept-gap' }
  | { readonly kind: 'set'; readonly fields: Readonly<Record<string, string>> }

/** Asked on `askMarket(market)`. */
export interface MarketRequest {
  readonly request_id: string
  /** Who asks, and why; both are kept in the log. */
  readonly by: string
  readonly reason: string
  readonly change: MarketChange
  /** Who gives the command; a question needs none. */
  readonly proof?: OperatorProof
}

/** An operator's signature of one command. */
export interface OperatorProof {
  /** The public key, as NATS writes it. */
  readonly key: string
  /** Unix milliseconds. */
  readonly issued_at_ms: number
  /** 32 hex digits. */
  readonly nonce: string
  /** Ed25519 over `operatorText`, in base64. */
  readonly signature: string
}

/** The bytes that an operator signs: one line of JSON with everything that the command says, and to which market. */
export function operatorText(
  market: string,
  { by, reason, change }: Pick<MarketRequest, 'by' | 'reason' | 'change'>,
  { key, issued_at_ms, nonce }: Omit<OperatorProof, 'signature'>,
): Uint8Array {
  const fields = change.kind === 'set' ? Object.entries(change.fields).sort() : []
  const said = ['venue market command', market, change.kind, fields, by, reason]
  return Buffer.from(JSON.stringify([...said, key, issued_at_ms, nonce]))
}

export const operatorProof = struct<OperatorProof>({
  key: text,
  issued_at_ms: whole,
  nonce: text,
  signature: text,
})

export const { encode: encodeMarketRequest, decode: decodeMarketRequest } = message(
  'market request',
  since(
    WIRE_VERSION,
    struct<MarketRequest>({
      request_id: text,
      by: text,
      reason: text,
      change: union<MarketChange>({
        show: {},
        set: { fields: dictionary(text) },
        pause: {},
        resume: {},
        disable: {},
        enable: {},
        'accept-gap': {},
      }),
      proof: appended(operatorProof),
    }),
  ),
)

/** The market's terms once the change is durable, or why nothing was changed, in one line. */
export type MarketAnswer =
  | { readonly kind: 'terms'; readonly feed_seq: number; readonly terms: MarketTerms }
  | { readonly kind: 'refused'; readonly message: string }

export const { encode: encodeMarketAnswer, decode: decodeMarketAnswer } = message(
  'market answer',
  since(
    WIRE_VERSION,
    union<MarketAnswer>({
      terms: { feed_seq: whole, terms: marketTerms },
      refused: { message: text },
    }),
  ),
)
