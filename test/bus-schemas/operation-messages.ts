import fc from 'fast-check'
import {
  decodePingAnswer,
  decodeTrimAnswer,
  decodeTrimQuestion,
  encodePingAnswer,
  encodeTrimAnswer,
  encodeTrimQuestion,
} from '../../bus-schemas/operations.js'
import { anyText } from '../support/arbitraries.js'
import { message, type Declared } from './declared.js'

/** What processes ask each other about their state, and about trimming. */
export const operationMessages: readonly Declared[] = [
  message(
    'ping answer',
    fc.record({
      process: anyText,
      ready: fc.boolean(),
      detail: anyText,
      positions: fc.dictionary(anyText, fc.nat()),
    }),
    { encode: encodePingAnswer, decode: decodePingAnswer },
  ),
  message('trim question', fc.record({ below_seq: fc.nat() }), {
    encode: encodeTrimQuestion,
    decode: decodeTrimQuestion,
  }),
  message(
    'trim answer',
    fc.oneof(
      fc.constant({ kind: 'trimmed' as const }),
      fc.record({ kind: fc.constant('refused' as const), why: anyText }),
    ),
    { encode: encodeTrimAnswer, decode: decodeTrimAnswer },
  ),
]
