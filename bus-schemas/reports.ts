import type { IndexLagLimit, IndexSample, IndexWatch } from '../core/contracts/index-lag.js'
import type { TouchedNews } from '../core/touched-blocks.js'
import { address, flag, priceE18, uint, whole } from '../core/wire/codec.js'
import { list, optional, struct } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** The question on `tellTouched`; its answer is empty. */
export const { encode: encodeTouched, decode: decodeTouched } = message(
  'touched accounts and keys',
  since(
    WIRE_VERSION,
    struct<TouchedNews>({
      first: uint,
      head: uint,
      accounts: optional(list(uint)),
      keys: optional(list(address)),
    }),
  ),
)

/** The limit of the index's lag, which the order intake keeps. */

const sample = struct<IndexSample>({ atMs: whole, usdcPerCngn: priceE18, isOk: flag })

/** A question on `askIndexLag`: with a sample, a report of it. */
export interface IndexLagQuestion {
  readonly sample?: IndexSample
}

/** The answer: the limit as it stands after the question; absent when none is configured. */
export interface IndexLagAnswer {
  readonly watch?: IndexWatch
}

export const { encode: encodeIndexLagQuestion, decode: decodeIndexLagQuestion } = message(
  'index lag question',
  since(WIRE_VERSION, struct<IndexLagQuestion>({ sample: optional(sample) })),
)

export const { encode: encodeIndexLagAnswer, decode: decodeIndexLagAnswer } = message(
  'index lag answer',
  since(
    WIRE_VERSION,
    struct<IndexLagAnswer>({
      watch: optional(
        struct<IndexWatch>({
          gate: struct<IndexLagLimit>({ enforced: flag, maxBps: whole, maxAgeMs: whole }),
          sample: optional(sample),
        }),
      ),
    }),
  ),
)
