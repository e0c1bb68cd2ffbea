import { expect } from 'chai'
import fc from 'fast-check'
import { decodeBlock, encodeBlock } from '../../bus-schemas/blocks.js'
import { WIRE_VERSION } from '../../bus-schemas/envelope.js'
import { termsText } from '../../bus-schemas/markets.js'
import {
  decodeGasStanding,
  decodePingAnswer,
  encodeGasStanding,
} from '../../bus-schemas/operations.js'
import {
  decodeOrderVerdict,
  encodeOrderVerdict,
  judgedFacts,
  type OrderVerdictReply,
} from '../../bus-schemas/order-verdict.js'
import {
  decodeOrderAnswer,
  decodeOrderRequest,
  encodeOrderAnswer,
  encodeOrderRequest,
  orderText,
  type OrderReply,
} from '../../bus-schemas/orders.js'
import {
  decodeOwnerAccountsAnswer,
  decodeOwnerAccountsQuestion,
  encodeOwnerAccountsAnswer,
  encodeOwnerAccountsQuestion,
} from '../../bus-schemas/owner-accounts.js'
import {
  decodeIndexLagAnswer,
  decodeIndexLagQuestion,
  decodeTouched,
  encodeIndexLagAnswer,
  encodeIndexLagQuestion,
  encodeTouched,
} from '../../bus-schemas/reports.js'
import {
  decodeTransferAnswer,
  decodeTransferLookup,
  decodeTransferProgress,
  decodeTransferRequest,
  encodeTransferAnswer,
  encodeTransferLookup,
  encodeTransferProgress,
  encodeTransferRequest,
  transferText,
  type TransferAnswer,
} from '../../bus-schemas/transfers.js'
import { InvariantBroken } from '../../core/assert.js'
import { MalformedMessage } from '../../core/wire/codec.js'
import { arbitraryAddress } from '../support/actions.js'
import {
  anyHash,
  anyLoggedCommand,
  anyObservation,
  anyOrder,
  anyProgress,
  anySeq,
  anyText,
} from '../support/arbitraries.js'
import { anyBlock } from '../support/arbitrary-blocks.js'
import * as cancels from '../support/arbitrary-cancels.js'
import { anyTerms } from '../support/arbitrary-markets.js'
import { anyGasStanding, anyTransfer } from '../support/arbitrary-transfers.js'
import { priceE18 } from '../../core/money.js'
import { runs } from '../support/property-runs.js'
import { decodeCommands, encodeCommands } from '../support/spot-log.js'
import { bytes, message, type Declared } from './declared.js'
import { anyRefusal, anyTransferRefusal } from './arbitrary-refusals.js'
import { marketMessages } from './market-messages.js'
import { operationMessages } from './operation-messages.js'
import { ownerMessages } from './owner-messages.js'
import { settlementMessages } from './settlement-messages.js'

const anySample = fc.record({
  atMs: fc.nat(),
  usdcPerCngn: fc.bigInt({ min: 0n, max: 10n ** 30n }).map(priceE18),
  isOk: fc.boolean(),
})

const anyCount = fc.bigInt({ min: 0n, max: 2n ** 64n })

const anyOrderAnswer: fc.Arbitrary<OrderReply> = fc.oneof(
  fc.record({
    kind: fc.constant('order' as const),
    feed_seq: fc.nat(),
    market: anyText,
    order: anyOrder(),
    progress: anyProgress,
  }),
  fc.record({ kind: fc.constant('refused' as const), refusal: anyRefusal }),
)
const anyOrderVerdict: fc.Arbitrary<OrderVerdictReply> = fc.oneof(
  fc.record({ kind: fc.constant('valid' as const), order: anyOrder(), facts: anyText }),
  fc.record({ kind: fc.constant('refused' as const), refusal: anyRefusal }),
)
const anyTransferAnswer: fc.Arbitrary<TransferAnswer> = fc.oneof(
  fc.record({ kind: fc.constant('record' as const), record: anyTransfer }),
  fc.record({ kind: fc.constant('refused' as const), refusal: anyTransferRefusal }),
)
const anyOwnerAccounts = fc.record(
  {
    found: fc.record({
      asOf: fc.record({ number: anyCount, hash: anyHash, timeSec: fc.nat() }),
      accounts: fc.array(
        fc.record({ subaccountId: anyCount, manager: arbitraryAddress, leaving: fc.boolean() }),
        { maxLength: 3 },
      ),
      keys: fc.array(fc.record({ key: arbitraryAddress, expirySec: anyCount }), { maxLength: 3 }),
      isComplete: fc.boolean(),
    }),
  },
  { requiredKeys: [] },
)
const anyTakeOver = fc.record({
  market: anyText,
  commandSeq: anySeq,
  commandIndex: fc.nat(255),
  firstSeq: anySeq,
  changes: fc.constant([]),
  leader: fc.record({ term: fc.nat(), id: anyText }),
})

const declared: readonly Declared[] = [
  message('cancels request', cancels.anyCancelsRequest, cancels.cancelsRequest),
  message('cancels answer', cancels.cancelsAnswers(anyRefusal), cancels.cancelsAnswer),
  message('commands', fc.array(anyLoggedCommand, { minLength: 1, maxLength: 5 }), {
    encode: encodeCommands,
    decode: decodeCommands,
  }),
  message('block', fc.oneof(anyBlock, anyTakeOver), { encode: encodeBlock, decode: decodeBlock }),
  message('order answer', anyOrderAnswer, { encode: encodeOrderAnswer, decode: decodeOrderAnswer }),
  message('order verdict', anyOrderVerdict, {
    encode: encodeOrderVerdict,
    decode: decodeOrderVerdict,
  }),
  message(
    'transfer request',
    fc.record({ request_id: anyText, client_address: anyText, body: anyText }),
    { encode: encodeTransferRequest, decode: decodeTransferRequest },
  ),
  message('transfer lookup', fc.record({ request_id: anyText, action_hash: anyHash }), {
    encode: encodeTransferLookup,
    decode: decodeTransferLookup,
  }),
  message('transfer answer', anyTransferAnswer, {
    encode: encodeTransferAnswer,
    decode: decodeTransferAnswer,
  }),
  message('transfer progress', anyTransfer, {
    encode: encodeTransferProgress,
    decode: decodeTransferProgress,
  }),
  ...operationMessages,
  ...marketMessages,
  ...ownerMessages,
  ...settlementMessages,
  message('index lag question', fc.record({ sample: anySample }, { requiredKeys: [] }), {
    encode: encodeIndexLagQuestion,
    decode: decodeIndexLagQuestion,
  }),
  message(
    'index lag answer',
    fc.record(
      {
        watch: fc.record(
          {
            gate: fc.record({ enforced: fc.boolean(), maxBps: fc.nat(), maxAgeMs: fc.nat() }),
            sample: anySample,
          },
          { requiredKeys: ['gate'] },
        ),
      },
      { requiredKeys: [] },
    ),
    { encode: encodeIndexLagAnswer, decode: decodeIndexLagAnswer },
  ),
  message(
    'touched accounts and keys',
    fc.record(
      {
        first: anyCount,
        head: anyCount,
        accounts: fc.array(anyCount, { maxLength: 4 }),
        keys: fc.array(arbitraryAddress, { maxLength: 4 }),
      },
      { requiredKeys: ['first', 'head'] },
    ),
    { encode: encodeTouched, decode: decodeTouched },
  ),
  message('owner accounts question', fc.record({ owner: arbitraryAddress }), {
    encode: encodeOwnerAccountsQuestion,
    decode: decodeOwnerAccountsQuestion,
  }),
  message('owner accounts answer', anyOwnerAccounts, {
    encode: encodeOwnerAccountsAnswer,
    decode: decodeOwnerAccountsAnswer,
  }),
  message('gas standing', anyGasStanding, {
    encode: encodeGasStanding,
    decode: decodeGasStanding,
  }),
  { name: 'stored order', any: anyOrder(), ...orderText },
  {
    name: 'facts of an order',
    any: fc.record({ account: anyObservation }, { requiredKeys: [] }),
    ...judgedFacts({ contractType: 'spot' }),
  },
  { name: 'stored terms', any: anyTerms, ...termsText },
  { name: 'stored transfer', any: anyTransfer, ...transferText },
]

/** The same value with the keys of every object set in the opposite order, those of plain JSON apart. */
function reversedKeys(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => reversedKeys(each))
  if (typeof value !== 'object' || value === null) return value
  if (['detail', 'extra', 'positions', 'fields'].includes(name)) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversedKeys(inner, key)]))
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Every place of a message where something can be changed: its path from the top. */
function placesOf(json: Json, path: readonly (string | number)[] = []): (string | number)[][] {
  const inside =
    typeof json === 'object' && json !== null
      ? Object.entries(json).flatMap(([key, inner]) => placesOf(inner, [...path, key]))
      : []
  return [[...path], ...inside]
}

/** Another value in the place, nothing in it, one more before it or behind it. */
const CHANGES = ['other', 'less', 'more', 'behind'] as const
const OTHERS: readonly Json[] = [null, 0, -1, 1.5, '', '0', '01', 'x', '0x', true, [], {}, ['Tick']]

function changed(json: Json, path: readonly (string | number)[], how: string, other: Json): Json {
  const [key, ...rest] = path
  if (key === undefined || typeof json !== 'object' || json === null) return other
  if (!Array.isArray(json)) {
    return { ...json, [key]: changed(json[key] as Json, rest, how, other) }
  }
  const at = Number(key)
  if (rest.length > 0) return json.with(at, changed(json[at] as Json, rest, how, other))
  if (how === 'less') return json.toSpliced(at, 1)
  if (how === 'more') return json.toSpliced(at, 0, other)
  if (how === 'behind') return [...json, other]
  return json.with(at, other)
}

/** Numbers that arithmetic may leave behind, beside those that are exact. */
const NUMBERS = [0, 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, 10 ** 18, 1.5, -1, NaN, Infinity]
const INTEGERS = [0n, 1n, -1n, 2n ** 256n - 1n, 10n ** 78n, 10n ** 120n, -(10n ** 78n)]

/** The value with other numbers in some places, those of plain JSON apart; `next` gives the choice for each place. */
function renumbered(value: unknown, next: () => number, name = ''): unknown {
  if (typeof value === 'number') return next() % 8 === 0 ? pick(NUMBERS, next()) : value
  if (typeof value === 'bigint') return next() % 8 === 0 ? pick(INTEGERS, next()) : value
  if (Array.isArray(value)) return value.map((each) => renumbered(each, next))
  if (typeof value !== 'object' || value === null || ['detail', 'extra'].includes(name))
    return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([key, inner]) => [key, renumbered(inner, next, key)]))
}

const pick = <T>(values: readonly T[], at: number): T => values[at % values.length] as T

const isRefusal = (error: unknown): boolean =>
  error instanceof MalformedMessage || error instanceof InvariantBroken

describe('declared messages', () => {
  for (const { name, any, write, read } of declared) {
    describe(name, () => {
      it('is not written with a number that its reader would refuse', () => {
        const choices = fc.infiniteStream(fc.nat())
        fc.assert(
          fc.property(any, choices, (value, stream) => {
            const other = renumbered(value, () => stream.next().value as number)
            let text: string
            try {
              text = write(other as never)
            } catch (error) {
              expect(isRefusal(error), String(error)).to.equal(true)
              return
            }
            expect(read(text)).to.deep.equal(other)
          }),
          { numRuns: runs(500) },
        )
      })

      it('comes back as it was written', () => {
        fc.assert(
          fc.property(any, (value) => {
            expect(read(write(value as never))).to.deep.equal(value)
          }),
        )
      })

      it('is the same text for equal values', () => {
        fc.assert(
          fc.property(any, (value) => {
            expect(write(reversedKeys(value) as never)).to.equal(write(value as never))
          }),
        )
      })

      it('is refused unless it is what would be written', () => {
        const change = fc.record({
          value: any,
          place: fc.nat(),
          how: fc.constantFrom(...CHANGES),
          other: fc.constantFrom(...OTHERS),
        })
        fc.assert(
          fc.property(change, ({ value, place, how, other }) => {
            const json = JSON.parse(write(value as never)) as Json
            // The version, which comes first, has a test of its own.
            const places = placesOf(json).filter(([first]) => first !== undefined && first !== '0')
            const bad = JSON.stringify(changed(json, places[place % places.length]!, how, other))
            let found: unknown
            try {
              found = read(bad)
            } catch (error) {
              expect(isRefusal(error), String(error)).to.equal(true)
              return
            }
            expect(write(found as never)).to.equal(bad)
          }),
          { numRuns: runs(1_000) },
        )
      })

      it('is refused when it is not a message', () => {
        const whole = write(fc.sample(any, 1)[0] as never)
        for (const bad of [
          '',
          'nonsense',
          'null',
          '[]',
          '{}',
          `[${WIRE_VERSION}]`,
          `${whole}\n1`,
        ]) {
          expect(() => read(bad), bad).to.throw(MalformedMessage)
        }
      })

      it('stops a reader of another version, and names it', () => {
        const form = write(fc.sample(any, 1)[0] as never).slice(`[${WIRE_VERSION}`.length)
        expect(() => read(`[99${form}`)).to.throw(InvariantBroken, 'version 99')
        expect(() => read('{"v":2,"market":"m"}')).to.throw(InvariantBroken, 'version 2')
      })
    })
  }

  it('are refused when they are not UTF-8', () => {
    expect(() => decodePingAnswer(Uint8Array.of(0x22, 0xff, 0x22))).to.throw(MalformedMessage)
  })
})

describe('order requests', () => {
  it('carry the body as it came, as text or as bytes', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (request_id, body, service_auth) => {
        for (const request of [
          { request_id, body },
          { request_id, body: `${body}\n{}\n`, service_auth },
        ]) {
          expect(decodeOrderRequest(encodeOrderRequest(request))).to.deep.equal(request)
          const inBytes = { ...request, body: Buffer.from(request.body) }
          expect(decodeOrderRequest(encodeOrderRequest(inBytes))).to.deep.equal(request)
        }
      }),
    )
  })

  it('are refused without a body’s line, with a field too many, and in another version', () => {
    for (const bad of ['', '[10,["r",null]]', '[10,["r"]]\n{}', '[10,["r",null,1]]\n{}', '\n{}']) {
      expect(() => decodeOrderRequest(bytes(bad)), bad).to.throw(MalformedMessage)
    }
    expect(() => decodeOrderRequest(bytes('[11,["r",null]]\n{}'))).to.throw(InvariantBroken)
    expect(() => decodeOrderRequest(bytes('{"v":2,"request_id":"r"}\n{}'))).to.throw(
      InvariantBroken,
    )
  })
})
