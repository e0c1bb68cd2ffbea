import { expect } from 'chai'
import fc from 'fast-check'
import type { z } from 'zod'
import { InvariantBroken } from '../../core/assert.js'
import { decodeBlock, encodeBlock } from '../../bus-schemas/block-message.js'
import { decodeCommands, encodeCommands } from '../../bus-schemas/command-message.js'
import {
  type OrderAnswer,
  type OrderRequest,
  decodeOrderAnswer,
  decodeOrderRequest,
  encodeOrderAnswer,
  encodeOrderRequest,
} from '../../bus-schemas/order-requests.js'
import { MalformedMessage } from '../../bus-schemas/wire.js'
import {
  anyBlock,
  anyLoggedCommand,
  anyOrder,
  anyProgress,
  anyText,
} from '../support/arbitraries.js'
import { statementOf } from '../support/builders.js'
import {
  answerMessage,
  blockMessage,
  commandMessage,
  requestMessage,
} from '../support/wire-schemas.js'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** One message on the way of an order: what makes it, what reads it, and what zod says of it. */
interface Kind {
  readonly valid: fc.Arbitrary<Uint8Array>
  /** The message that gives what was read, as it would be written. */
  readonly again: (data: Uint8Array) => Uint8Array
  /** Of its head. */
  readonly schema: z.ZodType
  /** How many lines belong behind a head that the schema takes. */
  readonly lines: (head: never) => number
}

const anyRequest: fc.Arbitrary<OrderRequest> = fc.record(
  { request_id: anyText, body: anyText, service_auth: anyText },
  { requiredKeys: ['request_id', 'body'] },
)
const anyRefusal = fc.record(
  {
    code: anyText,
    status: fc.integer(),
    message: anyText,
    field: anyText,
    detail: fc.constant({ digest: '0x1', inner: [{ deep: null }] }),
    existingOrderId: anyText,
  },
  { requiredKeys: ['code', 'status', 'message'] },
)
const anyAnswer: fc.Arbitrary<OrderAnswer> = fc.oneof(
  fc.record({
    kind: fc.constant('order' as const),
    feed_seq: fc.nat(),
    market: anyText,
    order: anyOrder(),
    progress: anyProgress,
  }),
  fc.record({ kind: fc.constant('refused' as const), refusal: anyRefusal }),
)
const leads = fc
  .record({ block: anyBlock, term: fc.nat(), id: anyText })
  .map(({ block, term, id }) => ({ ...block, changes: [], leader: { term, id } }))

const KINDS: Readonly<Record<string, Kind>> = {
  'command messages': {
    valid: fc.array(anyLoggedCommand, { minLength: 1, maxLength: 3 }).map(encodeCommands),
    again: (data) => encodeCommands(decodeCommands(data)),
    schema: commandMessage,
    lines: ({ commands }: { commands: { command: { kind: string } }[] }) =>
      commands.filter(({ command }) => command.kind === 'PlaceOrder').length,
  },
  blocks: {
    valid: fc.oneof({ weight: 9, arbitrary: anyBlock }, leads).map(encodeBlock),
    again: (data) => encodeBlock(decodeBlock(data)),
    schema: blockMessage,
    lines: ({ changes }: { changes: { kind: string }[] }) =>
      changes.filter(({ kind }) => kind === 'OrderPlaced').length,
  },
  'order requests': {
    valid: anyRequest.map(encodeOrderRequest),
    again: (data) => encodeOrderRequest(decodeOrderRequest(data)),
    schema: requestMessage,
    lines: () => 1,
  },
  'order answers': {
    valid: anyAnswer.map(encodeOrderAnswer),
    again: (data) => encodeOrderAnswer(decodeOrderAnswer(data)),
    schema: answerMessage,
    lines: ({ kind }: { kind: string }) => (kind === 'order' ? 1 : 0),
  },
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** What stands in the place of a value, given what stood there. */
const REPLACEMENTS: readonly ((was: Json) => Json)[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 53, 7].map((value) => () => value),
  ...['', '0', '-0', '00', '1', '-1', '+1', '1e3', '1.0', ' 1', '١'].map((text) => () => text),
  ...['9'.repeat(78), '9'.repeat(79), `-${'9'.repeat(78)}`].map((text) => () => text),
  ...['0x', '0X1', '0xg1', '0xAb', `0x${'a'.repeat(39)}`, `0x${'A'.repeat(40)}`].map(
    (text) => () => text,
  ),
  ...['buy', 'maker', 'both', 'filled', 'expiring', 'checked', 'toString'].map(
    (text) => () => text,
  ),
  ...['PlaceOrder', 'Tick', 'OrderReleased', 'OrderExpired', 'refused', 'success'].map(
    (text) => () => text,
  ),
  () => [],
  () => ({}),
  (was) => [was],
  (was) => ({ was }),
  (was) => `${textOf(was)}\n`,
  (was) => `0${textOf(was)}`,
  (was) => `-${textOf(was)}`,
  (was) => `${textOf(was)}x`,
  (was) => (typeof was === 'string' ? Number(was) || 0 : textOf(was)),
]

interface Mutation {
  /** Which of the message's values, counted from its root, and which of what that is done to. */
  readonly place: number
  readonly act: 'drop' | 'add' | 'rename' | 'replace'
  readonly pick: number
}

const anyMutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(),
  act: fc.constantFrom('drop', 'add', 'rename', 'replace', 'replace'),
  pick: fc.nat(),
})

/** Every object and list of the value, those inside others after them. */
function holdersIn(value: Json): (Json[] | { [name: string]: Json })[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(holdersIn)]
}

const ADDED = ['surplus', 'v', 'kind', '__proto__', 'constructor', 'hold', 'tx_hash', 'warnings']

/** Does it to the value itself. The version alone is left as it is: other versions are no concern of the schemas. */
function mutate(message: Json, { place, act, pick }: Mutation): void {
  const holders = holdersIn(message)
  const holder = holders[place % holders.length]
  if (holder === undefined) return
  const names = Object.keys(holder).filter((name) => holder !== message || name !== 'v')
  const name = names[pick % Math.max(names.length, 1)] ?? '0'
  const was = (holder as Record<string, Json>)[name] ?? null
  if (act === 'replace') put(holder, name, REPLACEMENTS[pick % REPLACEMENTS.length]?.(was) ?? null)
  else if (Array.isArray(holder)) holder.splice(pick % (holder.length + 1), pick % 2, was)
  else if (act === 'add') {
    const added = ADDED[pick % ADDED.length] ?? ''
    if (holder !== message || added !== 'v') put(holder, added, was)
  } else {
    Reflect.deleteProperty(holder, name)
    if (act === 'rename') put(holder, `${name}_`, was)
  }
}

/** Sets a field of its own, whatever its name means elsewhere. */
function put(holder: object, name: string, value: Json): void {
  const own = { enumerable: true, configurable: true, writable: true }
  Object.defineProperty(holder, name, { value, ...own })
}

const parsed = (head: string): Json => JSON.parse(head) as Json

/** A message's head, and the lines behind it. */
function opened(data: Uint8Array): [head: string, ...lines: string[]] {
  const [head = '', ...lines] = Buffer.from(data).toString('utf8').split('\n')
  return [head, ...lines]
}

/** What was read, as the head that says it; undefined when it was refused. */
function readAgain({ again }: Kind, data: Uint8Array): Json | undefined {
  try {
    return parsed(opened(again(data))[0])
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined
    throw error
  }
}

/** Blocks must also have a purpose, which no schema says. */
const isPurposeless = (error: unknown): boolean =>
  error instanceof InvariantBroken && error.message.startsWith('a block has changes')

describe('readers of messages', () => {
  for (const [name, kind] of Object.entries(KINDS)) {
    it(`take ${name} as zod does and lose nothing of them`, () => {
      fc.assert(
        fc.property(kind.valid, (data) => {
          expect(kind.schema.safeParse(parsed(opened(data)[0])).error).to.equal(undefined)
          expect(Buffer.from(kind.again(data)).equals(data)).to.equal(true)
        }),
      )
    })

    it(`refuse ${name} that zod refuses, and no others`, () => {
      const mutations = fc.array(anyMutation, { minLength: 1, maxLength: 2 })
      const check = (data: Uint8Array, acts: Mutation[]): void => {
        const [head, ...lines] = opened(data)
        const message = parsed(head)
        for (const act of acts) mutate(message, act)
        const isRight = kind.schema.safeParse(message).success
        const behind = isRight ? linesOf(kind, message) : lines
        const altered = Buffer.from([JSON.stringify(message), ...behind].join('\n'))
        try {
          expect(readAgain(kind, altered)).to.deep.equal(isRight ? message : undefined)
        } catch (error) {
          if (!isPurposeless(error)) throw error
          expect(isRight).to.equal(true)
        }
      }
      fc.assert(fc.property(kind.valid, mutations, check), { numRuns: 800 })
    })

    it(`refuse ${name} with a line too many, too few or changed`, () => {
      fc.assert(
        fc.property(kind.valid, fc.constantFrom('', ' ', STATEMENT), (data, surplus) => {
          const [head, ...lines] = opened(data)
          const refused = (...behind: string[]): void => {
            const altered = Buffer.from([head, ...behind].join('\n'))
            expect(readAgain(kind, altered), altered.toString('utf8')).to.equal(undefined)
          }
          if (name !== 'order requests') refused(...lines, surplus)
          if (lines.length > 0) refused(...lines.slice(1))
          if (lines.length > 0 && name !== 'order requests') {
            refused(...lines.slice(1), lines[0] ?? '', '')
            for (const bad of [
              '',
              '{}',
              `${STATEMENT} `,
              ` ${STATEMENT}`,
              STATEMENT.replace('1', 'é'),
            ]) {
              refused(bad, ...lines.slice(1))
            }
          }
        }),
      )
    })
  }

  it('refuse bytes that are no UTF-8, wherever they stand', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(KINDS)), fc.nat(), (kind, place) => {
        const [data = new Uint8Array()] = fc.sample(kind.valid, { numRuns: 1, seed: place })
        const at = place % (data.length + 1)
        const altered = Buffer.concat([data.subarray(0, at), Buffer.of(0xff), data.subarray(at)])
        expect(readAgain(kind, altered)).to.equal(undefined)
      }),
    )
  })
})

const STATEMENT = statementOf({ owner: `0x${'1'.repeat(40)}`, subaccountId: 1n, nonce: 1n })

/** The lines that belong behind a head that was altered. */
const linesOf = (kind: Kind, head: Json): string[] =>
  Array.from({ length: kind.lines(head as never) }, () => STATEMENT)
