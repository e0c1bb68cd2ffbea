import type { GasPause, GasStanding } from '../core/transfer.js'
import { address, flag, oneOf, text, uint, whole } from '../core/wire/codec.js'
import { dictionary, optional, struct, union } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** A process's answer on `ask.ping.<process>`. */
export interface PingAnswer {
  readonly process: string
  /** Whether it does its work now; false while it replays or waits for something it needs. */
  readonly ready: boolean
  /** What it is waiting for, or a few words on how it is. */
  readonly detail: string
  /** Where it stands, by name, for example `{ command_seq: 17, feed_seq: 40 }`. */
  readonly positions: Readonly<Record<string, number>>
}

export const { encode: encodePingAnswer, decode: decodePingAnswer } = message(
  'ping answer',
  since(
    WIRE_VERSION,
    struct<PingAnswer>({
      process: text,
      ready: flag,
      detail: text,
      positions: dictionary(whole),
    }),
  ),
)

/** A submitter's answer on `askGasStanding(kind)`. */
export const { encode: encodeGasStanding, decode: decodeGasStanding } = message(
  'gas standing',
  since(
    WIRE_VERSION,
    struct<GasStanding>({
      signer: address,
      balanceWei: optional(uint),
      reserveWei: uint,
      hourBudgetWei: uint,
      hourSpentWei: uint,
      paused: optional(oneOf<GasPause>({ gas_reserve: true, gas_budget: true })),
    }),
  ),
)

/** A request to let a market's feed begin with a message. */
export interface TrimQuestion {
  readonly below_seq: number
}

export const { encode: encodeTrimQuestion, decode: decodeTrimQuestion } = message(
  'trim question',
  since(WIRE_VERSION, struct<TrimQuestion>({ below_seq: whole })),
)

/** Whether it does from now on, or why not. */
export type TrimAnswer =
  { readonly kind: 'trimmed' } | { readonly kind: 'refused'; readonly why: string }

export const { encode: encodeTrimAnswer, decode: decodeTrimAnswer } = message(
  'trim answer',
  since(WIRE_VERSION, union<TrimAnswer>({ trimmed: {}, refused: { why: text } })),
)
