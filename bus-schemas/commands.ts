import { assert } from '../core/assert.js'
import type { ContractWire } from '../core/contracts/contract.js'
import { tradingOf } from '../core/contracts/registry.js'
import type { CloseOut } from '../core/model/close-out.js'
import type {
  Command,
  LoggedCommand,
  ObservedGap,
  RepeatedBy,
  ReversedLeg,
  SettlementOutcome,
  SettlementReversal,
} from '../core/model/command.js'
import type { Market } from '../core/model/market.js'
import type { PublishedFill } from '../core/model/match.js'
import type { MarketObservation, AccountObservation } from '../core/model/observation.js'
import {
  address,
  always,
  amountE18,
  flag,
  hex,
  int,
  oneOf,
  position,
  priceE18,
  quoteE18,
  text,
  uint,
  whole,
  type Codec,
} from '../core/wire/codec.js'
import { appended, list, optional, struct, union } from '../core/wire/compound.js'
import { match } from './blocks.js'
import { enveloped, MAX_MESSAGE_BYTES, message, since, WIRE_VERSION } from './envelope.js'
import { marketOpening, rulesChange } from './markets.js'
import { order, orderStatus, side } from './orders.js'
import { mayWrite } from './subjects.js'

/** What the chain shows of a subaccount at one block. */
export const accountObservation = ({ accountFacts }: ContractWire): Codec<AccountObservation> =>
  struct<AccountObservation>({
    subaccountId: uint,
    facts: accountFacts,
    custodyOwner: optional(address),
    leaving: flag,
    blockNumber: uint,
    blockTimeSec: whole,
  })

/** What the chain shows of a market at one block. */
export const marketObservation = ({ marketFacts }: ContractWire): Codec<MarketObservation> =>
  struct<MarketObservation>({
    facts: marketFacts,
    blockNumber: uint,
    blockTimeSec: whole,
    readAtMs: whole,
  })

type Guilty = Extract<SettlementOutcome, { kind: 'reverted' }>['guilty']

const outcome = union<SettlementOutcome>({
  success: {
    txHash: hex,
    blockNumber: uint,
    markPrice: optional(priceE18),
    gasCost: appended(quoteE18),
  },
  reverted: {
    revert: text,
    guilty: oneOf<Guilty>({ maker: true, taker: true, both: true, venue: true, unclear: true }),
    txHash: optional(hex),
    spentElsewhere: appended(always),
    gasCost: appended(quoteE18),
    signersRead: appended(always),
  },
})

const leg = struct<ReversedLeg>({
  orderId: text,
  owner: address,
  side,
  limitPrice: priceE18,
  desired: amountE18,
  ended: optional(
    struct<NonNullable<ReversedLeg['ended']>>({ status: orderStatus, filled: amountE18 }),
  ),
  reducedFrom: appended(amountE18),
})

const reversal = struct<SettlementReversal>({
  no: position,
  match,
  maker: leg,
  taker: leg,
  now: union<SettlementReversal['now']>({
    success: { txHash: hex, blockNumber: uint },
    reverted: {
      revert: text,
      published: struct<PublishedFill>({
        txHash: hex,
        blockNumber: uint,
        tradeId: whole,
        markPrice: optional(priceE18),
      }),
    },
  }),
})

/** Most close-outs of one command. */
export const MAX_CLOSE_OUTS = 100

const closeOut = struct<CloseOut>({
  subaccountId: uint,
  owner: address,
  position: int,
  price: priceE18,
  variation: int,
  txHash: hex,
  blockNumber: uint,
  blockTimeSec: whole,
})

const byOperator = { by: text, reason: text }

const observedGap = struct<ObservedGap>({
  filled: list(struct<ObservedGap['filled'][number]>({ orderId: text, filled: amountE18 })),
  used: list(struct<ObservedGap['used'][number]>({ owner: address, nonce: uint })),
  fills: list(struct<ObservedGap['fills'][number]>({ txHash: hex, logIndex: whole })),
})

function loggedCommandOf(wire: ContractWire): Codec<LoggedCommand> {
  const account = accountObservation(wire)
  return struct<LoggedCommand>({
    source: text,
    sourceNo: whole,
    atMs: whole,
    replyTo: optional(text),
    requestId: optional(text),
    command: union<Command>({
      MarketOpened: { opening: marketOpening },
      MarketRulesSet: { rules: rulesChange, ...byOperator },
      MarketPaused: byOperator,
      MarketResumed: byOperator,
      MarketDisabled: byOperator,
      MarketEnabled: byOperator,
      PlaceOrder: { order, account: optional(account), replaces: appended(uint) },
      RepeatOrder: { orderId: text, by: oneOf<RepeatedBy>({ order_id: true, nonce: true }) },
      CancelOrder: { owner: address, nonce: uint, reason: text },
      ReduceOrder: { owner: address, nonce: uint, desired: amountE18, reason: text },
      CancelAll: {
        owner: address,
        side: optional(side),
        subaccountId: optional(uint),
        reason: text,
      },
      CancelOrders: { owner: address, orderIds: list(text), reason: text },
      SetLease: { owner: address, leaseId: optional(text), seconds: position, opens: flag },
      EndLease: { owner: address, leaseId: optional(text), cancels: flag },
      Tick: {},
      ContinueOrder: { orderId: text },
      SignatureChecked: { orderId: text, valid: flag, byCode: appended(always) },
      SessionKeyObserved: { orderId: text, endsSec: whole },
      AccountObserved: { account },
      MarketObserved: { observation: marketObservation(wire) },
      PositionsClosed: { closed: list(closeOut, 1, MAX_CLOSE_OUTS) },
      ClockObserved: { chainMs: whole },
      SettlementReported: { settlementId: text, outcome },
      ChainFaultObserved: { revert: optional(text) },
      SignerCodeObserved: { signer: address },
      SettlementReversed: { reversal },
      ReversalsRead: { upTo: whole },
      EngineVersionSet: { version: position },
      MarketRestored: byOperator,
      GapObserved: { gap: observedGap, more: flag },
      GapAccepted: byOperator,
    }),
  })
}

/** Most commands in one message of the log; one fsync carries them all. */
export const MAX_COMMANDS_PER_MESSAGE = 256

/** How far a writer's clock may be ahead of the bus's; both are kept by the same time service. */
export const MAX_CLOCK_AHEAD_MS = 5_000

/** Called with a command that its writer may not write. */
export type OnForeign = (logged: LoggedCommand, subject: string) => void

/** Called with a command whose clock is too far ahead, and the time that is used instead. */
export type OnClockAhead = (logged: LoggedCommand, storedAtMs: number) => void

/** The messages of a market's command log. */
export interface CommandMessages {
  /** The version that is written. */
  readonly version: number
  /** One message. All of the commands must fit; split longer runs with encodeGroup. */
  readonly encode: (commands: readonly LoggedCommand[]) => Uint8Array
  /**
   * One message with as many of the leading commands as its limits allow, at least one, and how many those are: what
   * a writer does with the queue that has gathered while its previous append was in flight.
   */
  readonly encodeGroup: (commands: readonly LoggedCommand[]) => CommandGroup
  /** The inverse of `encode`. Throws as `decode` of a message does. */
  readonly decode: (data: Uint8Array) => readonly LoggedCommand[]
  /**
   * The commands of a message as the market takes them. Market time is the greatest in the log and never goes back, so
   * one clock far ahead would expire every order at once: a time that is more than MAX_CLOCK_AHEAD_MS beyond the moment
   * at which the bus stored the message is replaced by that moment. Both are part of the log, so every fold of it
   * decides alike. For the same reason a command that its writer may not write (`mayWrite`) is left out here. Throws as
   * `decode`.
   */
  readonly take: (message: StoredMessage, notices?: TakeNotices) => readonly LoggedCommand[]
}

/** A market, as far as the form of its log goes. */
export type LogMarket = Pick<Market, 'market' | 'contractType'>

interface CommandGroup {
  readonly data: Uint8Array
  readonly count: number
}

/** What a fold wants to be told of what it takes. */
export interface TakeNotices {
  readonly onClockAhead?: OnClockAhead
  readonly onForeign?: OnForeign
}

interface StoredMessage {
  readonly subject: string
  readonly data: Uint8Array
  readonly storedAtMs: number
}

/** What follows from a contract's own declarations, made once for each contract type. */
export function perContract<T>(
  make: (wire: ContractWire) => T,
): (market: Pick<Market, 'contractType'>) => T {
  const made = new WeakMap<ContractWire, T>()
  return (market) => {
    const { wire } = tradingOf(market)
    const known = made.get(wire) ?? make(wire)
    made.set(wire, known)
    return known
  }
}

/** The messages of a market's command log, whose contract declares what is observed of accounts and of the market. */
export const commandMessages = perContract(declareMessages)

function declareMessages(wire: ContractWire): CommandMessages {
  const loggedCommand = loggedCommandOf(wire)
  const form = list(loggedCommand, 1, MAX_COMMANDS_PER_MESSAGE)
  const { version, decode } = message('command message', since(WIRE_VERSION, form))
  const encodeGroup = (commands: readonly LoggedCommand[]): CommandGroup => {
    const texts: string[] = []
    let bytes = enveloped(version, '[]').length
    for (const command of commands.slice(0, MAX_COMMANDS_PER_MESSAGE)) {
      const text = loggedCommand.write(command)
      bytes += Buffer.byteLength(text) + 1
      if (bytes > MAX_MESSAGE_BYTES) break
      texts.push(text)
    }
    assert(texts.length > 0, 'no command to encode, or the first one exceeds a whole message')
    const data = Buffer.from(enveloped(version, `[${texts.join(',')}]`))
    return { data, count: texts.length }
  }
  return {
    version,
    decode,
    encodeGroup,
    encode(commands) {
      const { data, count } = encodeGroup(commands)
      assert(count === commands.length, `${commands.length} commands do not fit one message`)
      return data
    },
    take({ subject, data, storedAtMs }, { onClockAhead, onForeign } = {}) {
      const taken: LoggedCommand[] = []
      for (const logged of decode(data)) {
        if (!mayWrite(subject, logged)) {
          onForeign?.(logged, subject)
        } else if (logged.atMs <= storedAtMs + MAX_CLOCK_AHEAD_MS) {
          taken.push(logged)
        } else {
          onClockAhead?.(logged, storedAtMs)
          taken.push({ ...logged, atMs: storedAtMs })
        }
      }
      return taken
    },
  }
}
