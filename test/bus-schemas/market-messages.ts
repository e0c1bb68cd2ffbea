import fc from 'fast-check'
import {
  decodeMarketAnswer,
  decodeMarketRequest,
  encodeMarketAnswer,
  encodeMarketRequest,
} from '../../bus-schemas/markets.js'
import { anyText } from '../support/arbitraries.js'
import { anyTerms } from '../support/arbitrary-markets.js'
import { message, type Declared } from './declared.js'

/** What an operator asks of the matcher that leads a market, and the answers. */
export const marketMessages: readonly Declared[] = [
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
