import fc from 'fast-check'
import {
  decodeMarketAnswer,
  decodeMarketRequest,
  encodeMarketAnswer,
  encodeMarketRequest,
} from '../../bus-schemas/markets.js'
import {
  decodeRegisterAnswer,
  decodeRegisterRequest,
  decodeRegistration,
  encodeRegisterAnswer,
  encodeRegisterRequest,
  encodeRegistration,
} from '../../bus-schemas/register.js'
import { decodeLiquidations, encodeLiquidations } from '../../bus-schemas/liquidations.js'
import { anyText } from '../support/arbitraries.js'
import { anyEntry, anyTerms } from '../support/arbitrary-markets.js'
import { anyLiquidationNews } from '../support/liquidations.js'
import { message, type Declared } from './declared.js'

const entries = fc.array(anyEntry, { minLength: 1, maxLength: 3 })
const anyProof = fc.record({
  key: anyText,
  issued_at_ms: fc.nat(),
  nonce: anyText,
  signature: anyText,
})

/** The register of markets, what an operator asks of it and of the matcher that leads a market, and the answers. */
export const marketMessages: readonly Declared[] = [
  message(
    'registration',
    fc.record(
      { by: anyText, reason: anyText, entries, atMs: fc.nat() },
      { requiredKeys: ['by', 'reason', 'entries'] },
    ),
    { encode: encodeRegistration, decode: decodeRegistration },
  ),
  message('liquidations', anyLiquidationNews, {
    encode: encodeLiquidations,
    decode: decodeLiquidations,
  }),
  message(
    'register request',
    fc.record(
      { by: anyText, reason: anyText, entries, after_seq: fc.nat(), proof: anyProof },
      { requiredKeys: ['by', 'reason', 'entries', 'after_seq'] },
    ),
    { encode: encodeRegisterRequest, decode: decodeRegisterRequest },
  ),
  message(
    'register answer',
    fc.oneof(
      fc.record({ kind: fc.constant('registered' as const), seq: fc.nat() }),
      fc.record({ kind: fc.constant('stale' as const) }),
      fc.record({ kind: fc.constant('refused' as const), message: anyText }),
    ),
    { encode: encodeRegisterAnswer, decode: decodeRegisterAnswer },
  ),
  message(
    'market request',
    fc.record({
      request_id: anyText,
      by: anyText,
      reason: anyText,
      change: fc.oneof(
        fc.record({
          kind: fc.constantFrom('show' as const, 'pause', 'resume', 'disable', 'enable'),
        }),
        fc.record({
          kind: fc.constant('set' as const),
          fields: fc.dictionary(anyText, anyText),
        }),
      ),
    }),
    { encode: encodeMarketRequest, decode: decodeMarketRequest },
  ),
  message(
    'market answer',
    fc.oneof(
      fc.record({ kind: fc.constant('terms' as const), feed_seq: fc.nat(), terms: anyTerms }),
      fc.record({ kind: fc.constant('refused' as const), message: anyText }),
    ),
    { encode: encodeMarketAnswer, decode: decodeMarketAnswer },
  ),
]
