import secp256k1 from 'secp256k1'
import { decodeOrderAnswer, encodeOrderRequest, type OrderReply } from '../../bus-schemas/orders.js'
import {
  askCancelOrder,
  askPlaceOrder,
  askReduceOrder,
  askReplaceOrder,
} from '../../bus-schemas/subjects.js'
import { addressOfPublicKey, bytesToHex, hexToBytes } from '../../chain/signing/keys.js'
import type { Action, Address, Hex } from '../../core/action.js'
import { formatDecimal } from '../../core/decimal.js'
import type { Side } from '../../core/model/order.js'
import type { OrderOptions } from '../../core/model/order.js'
import { encodeTradeData } from '../../core/entry/read-action.js'
import { E18 } from '../../core/money.js'
import type { MemoryBus } from '../../runtime/bus/memory-bus.js'
import { connectLine, type BusLine } from './bus-line.js'
import type { Market } from '../../core/model/market.js'
import { AT, setBalance, type ChainState } from './chain-state.js'
import { digestOf, walletSignature } from './contracts.js'
import type { Kind } from './markets.js'
import { createMassCancels, type MassCancels } from './mass-cancels.js'
import type { Network } from './network.js'
import type { Actor } from './world.js'

/** A trader: a plain key, or a wallet contract, whose signature costs a simulation nothing. */
export interface Trader {
  readonly owner: Address
  readonly key: Uint8Array | undefined
  /** By manager; those of spot and of the future are the same. */
  readonly accounts: ReadonlyMap<Address, readonly bigint[]>
}

/** Accounts of a trader that may trade in a market. */
export const accountsIn = (
  { accounts }: Trader,
  { marginManagerAddress }: Market,
): readonly bigint[] => accounts.get(marginManagerAddress) ?? []

/** An order as its trader sent it, and what became known of it. */
export interface SentOrder {
  readonly body: Readonly<Record<string, unknown>>
  /** Where it is sent: alone, or in the place of another one. */
  readonly subject: string
  readonly account: bigint
  readonly side: Side
  readonly orderId: string
  readonly market: string
  readonly trader: Trader
  readonly owner: Address
  readonly nonce: bigint
  /** Without a valid signature: must never be accepted. */
  readonly forged: boolean
  /** The venue said that it has the order. */
  accepted: boolean
  /** The venue said that its book refuses the order. */
  refused: boolean
}

/** The clients of the venue behind its gateway. */
export interface Traders {
  readonly traders: readonly Trader[]
  readonly sent: readonly SentOrder[]
  place(): void
  /** Sends an order a second time, as a client does that lost its answer. */
  repeat(): void
  cancel(): void
  /** Sends an order in the place of an earlier one, which may be gone by then. */
  replace(): void
  reduce(): void
  /** Requests that wait for an answer or will be tried again. */
  unanswered(): number
  /** Cancels that the venue confirmed, by order id. */
  readonly cancelled: ReadonlySet<string>
  readonly line: BusLine
  /** Cancels of many orders, and leases. */
  readonly mass: MassCancels
}

const PATIENCE_MS = 3_000
const RETRY_SPREAD_MS = 2_000
const LIVES_SEC = [600, 86_400]
const SHORT_LIVES_SEC = [14, 25, 60]
/** Prices in hundredths, few enough that orders meet. */
const PRICES = [98, 99, 100, 100, 101, 102]

export interface TradersOptions {
  readonly network: Network
  readonly server: MemoryBus
  readonly traders: readonly Trader[]
  readonly markets: readonly Market[]
  /** Whether some orders expire soon. */
  readonly shortLives: boolean
  /** Told of each answer that shows an order, and the seq that it says the feed has reached. */
  readonly onAnswered: (order: SentOrder, feedSeq: number) => void
  readonly onFinding: (what: string, error: unknown) => void
}

/** Refusals that take the order's id and nonce. */
const BY_THE_BOOK: ReadonlySet<string> = new Set(['post_only_would_cross', 'open_order_limit'])

const NOT_ANSWERED = { accepted: false, refused: false }

/** Of every twenty-three orders eight have controls. */
const CONTROLS: readonly OrderOptions[] = [
  { timeInForce: 'IOC' },
  { timeInForce: 'FOK' },
  { postOnly: 'reject' },
  { postOnly: 'slide' },
  { stp: 'cancel_oldest' },
  { stp: 'cancel_both', stpScope: 'owner' },
  { stpScope: 'owner' },
  { stp: 'cancel_oldest', timeInForce: 'FOK' },
]

/** Of every twenty-nine orders five have a value at an end of what is accepted; without a draw, so that seeds stay. */
const EXTREMES: readonly Partial<Terms>[] = Object.assign([], {
  4: { expirySec: Number.MAX_SAFE_INTEGER },
  10: { expirySec: 9_007_199_254_751 },
  16: { amount: 10n ** 55n },
  22: { worstFee: 2n ** 256n - 1n, expirySec: 10 ** 15 },
})
/** Of every plane, and with its number as long as an id may be. */
const LONG_ID = ` "\\\u{e9}\u{4e2d}${'\u{1f600}'.repeat(58)}`

/** A few traders, the last of them with plain keys. */
export function makeTraders(count: number, plainKeys = 1): Trader[] {
  return Array.from({ length: count }, (_, index) => {
    const accounts = new Map([
      [AT.manager, [BigInt(10 + 2 * index), BigInt(11 + 2 * index)]],
      [AT.perpManager, [BigInt(50 + 2 * index), BigInt(51 + 2 * index)]],
    ])
    if (index < count - plainKeys) {
      return { owner: `0x${`${50 + index}`.repeat(20)}`, key: undefined, accounts }
    }
    const key = hexToBytes(`0x${`${20 + index}`.repeat(32)}`)
    return { owner: addressOfPublicKey(secp256k1.publicKeyCreate(key, false)), key, accounts }
  })
}

const FAIR_BALANCE = 60n * E18
/** Margin for a position of a few orders. */
const FAIR_CASH = 3n * E18

/** Gives every trader its accounts, and these what they begin with. */
export function endow(state: ChainState, people: readonly Trader[]): void {
  for (const { owner, key, accounts } of people) {
    if (key === undefined) state.wallets.set(owner, true)
    for (const [manager, ids] of accounts) {
      for (const account of ids) {
        state.owners.set(account, owner)
        state.managers.set(account, manager)
        if (manager === AT.perpManager) setBalance(state, account, AT.cash, FAIR_CASH)
        else for (const at of [AT.cngn, AT.usdc]) setBalance(state, account, at, FAIR_BALANCE)
      }
    }
  }
}

export function createTraders(options: TradersOptions): Traders {
  const { network, server, traders, markets, shortLives } = options
  const livesSec = shortLives ? [...SHORT_LIVES_SEC, ...LIVES_SEC] : LIVES_SEC
  const { world, random } = network
  const actor: Actor = {
    name: 'gateway',
    alive: true,
    skewMs: 0,
    onFailure: (error) => options.onFinding('gateway failed', error),
  }
  const line = connectLine(network, server, actor)
  const sent: SentOrder[] = []
  const cancelled = new Set<string>()
  const nonces = new Map<Address, bigint>()
  let unanswered = 0

  /** Asks until there is an answer that says something. */
  const ask = (subject: string, body: unknown, onAnswer: (answer: OrderReply) => void): void => {
    const request = encodeOrderRequest({ request_id: 'r', body: JSON.stringify(body) })
    const again = (): void => void world.after(actor, 200 + random.int(RETRY_SPREAD_MS), attempt)
    const attempt = (): void => {
      line.bus.ask(subject, request, PATIENCE_MS).then((data) => {
        const answer = decodeOrderAnswer(data)
        if (answer.kind === 'refused' && answer.refusal.status >= 500) return again()
        unanswered -= 1
        onAnswer(answer)
      }, again)
    }
    unanswered += 1
    attempt()
  }

  const submit = (order: SentOrder): void => {
    ask(order.subject, order.body, (answer) => {
      const repeated = answer.kind === 'refused' && answer.refusal.existingOrderId !== undefined
      if (answer.kind === 'order' || repeated) order.accepted = true
      if (answer.kind === 'refused' && BY_THE_BOOK.has(answer.refusal.code)) order.refused = true
      if (order.accepted && order.refused)
        options.onFinding(`${order.orderId} got two answers`, order)
      if (answer.kind === 'order') options.onAnswered(order, answer.feed_seq)
      const said = answer.kind === 'order' ? 'accepted' : answer.refusal.code
      world.note(`${order.orderId} ${said}`)
    })
  }

  const mass = createMassCancels({
    actor,
    world,
    line,
    traders,
    markets,
    sent,
    random: random.fork(),
    sign: (trader, digest) => signatureOf(trader, digest, false),
    onCancelled: (orderId, _, feedSeq) => {
      cancelled.add(orderId)
      const order = sent.find((each) => each.orderId === orderId)
      if (order !== undefined) options.onAnswered(order, feedSeq)
    },
  })

  /** Of every four orders of an owner with a lease one names it. */
  const leaseOf = ({ owner }: Trader, { market }: Market): OrderOptions => {
    const leaseId = sent.length % 4 === 0 ? mass.leaseOf(owner, market) : undefined
    return leaseId === undefined ? {} : { leaseId }
  }

  const makeOrder = (replaced?: SentOrder): SentOrder => {
    const trader = replaced?.trader ?? random.pick(traders)
    const market = markets.find((row) => row.market === replaced?.market) ?? random.pick(markets)
    const nonce = (nonces.get(trader.owner) ?? 0n) + 1n
    nonces.set(trader.owner, nonce)
    const orderId = `o${sent.length + 1}${sent.length % 29 === 27 ? LONG_ID : ''}`
    const expirySec = Math.floor(world.nowMs() / 1_000) + random.pick(livesSec)
    const side: Side = replaced?.side ?? (random.chance(0.5) ? 'buy' : 'sell')
    const forged = random.chance(0.04)
    const reduceOnly = market.contractType !== 'spot' && random.chance(0.15)
    const account = replaced?.account ?? random.pick(accountsIn(trader, market))
    const extreme = EXTREMES[sent.length % 29]
    const signed = signedBody(trader, {
      market,
      reduceOnly,
      orderId,
      nonce,
      side,
      expirySec,
      forged,
      account,
      controls: { ...CONTROLS[sent.length % 23], ...leaseOf(trader, market) },
      price: (BigInt(random.pick(PRICES)) * E18) / 100n,
      amount: BigInt(1 + random.int(20)) * LOTS[market.contractType as Kind],
      ...extreme,
    })
    const { owner } = trader
    const body = replaced ? { ...signed, replaces_nonce: `${replaced.nonce}` } : signed
    const subject = replaced ? askReplaceOrder : askPlaceOrder
    const whose = { trader, owner, account, market: market.market }
    return { body, subject, ...whose, orderId, side, nonce, forged, ...NOT_ANSWERED }
  }

  const send = (order: SentOrder): void => {
    sent.push(order)
    world.note(`${order.orderId} sent${order.forged ? ' forged' : ''}`)
    world.after(actor, 0, () => submit(order))
  }

  return {
    traders,
    sent,
    cancelled,
    line,
    mass,
    unanswered: () => unanswered,
    place: () => send(makeOrder()),
    replace() {
      if (sent.length > 0) send(makeOrder(random.pick(sent.slice(-30))))
    },
    reduce() {
      if (sent.length === 0) return
      const order = random.pick(sent.slice(-30))
      const { owner, nonce, orderId } = order
      const kind = markets.find(({ market }) => market === order.market)?.contractType as Kind
      const desired_amount = formatDecimal(BigInt(random.int(12)) * LOTS[kind], 18)
      world.note(`reduce ${orderId} to ${desired_amount}`)
      world.after(actor, 0, () => {
        const body = { owner_address: owner, nonce: `${nonce}`, desired_amount }
        ask(askReduceOrder, body, (answer) => {
          if (answer.kind === 'order') options.onAnswered(order, answer.feed_seq)
        })
      })
    },
    repeat() {
      if (sent.length === 0) return
      const order = random.pick(sent)
      world.after(actor, 0, () => submit(order))
    },
    cancel() {
      if (sent.length === 0) return
      const order = random.pick(sent.slice(-30))
      const { owner, nonce, orderId } = order
      world.note(`cancel ${orderId}`)
      world.after(actor, 0, () => {
        ask(askCancelOrder, { owner_address: owner, nonce: `${nonce}` }, (answer) => {
          if (answer.kind !== 'order') return
          cancelled.add(orderId)
          options.onAnswered(order, answer.feed_seq)
        })
      })
    },
  }
}

/** What sizes are multiples of: of a future, enough to need a good part of an account's margin. */
const LOTS: Readonly<Record<Kind, bigint>> = { spot: E18, perpetual: E18, future: 10n * E18 }

interface Terms {
  readonly market: Market
  readonly orderId: string
  readonly nonce: bigint
  readonly side: Side
  readonly expirySec: number
  readonly forged: boolean
  readonly reduceOnly: boolean
  readonly controls: OrderOptions
  readonly account: bigint
  readonly price: bigint
  readonly amount: bigint
  readonly worstFee?: bigint
}

/** A body of `POST /v1/orders` in engine terms, signed as the trader signs. */
function signedBody(trader: Trader, terms: Terms): Record<string, unknown> {
  const { owner } = trader
  const { market, account, nonce, side, price, amount, expirySec } = terms
  const { assetAddress: asset, subId, tradeModuleAddress: module } = market
  const unit = market.contractType === 'future' ? market.contractMultiplier * E18 : price
  const { worstFee = (unit * 30n) / 10_000n } = terms
  const desiredAmount = (amount * market.amountScale) / E18
  const data = encodeTradeData({
    asset,
    subId,
    limitPrice: price,
    desiredAmount,
    worstFee,
    recipientId: account,
    isBid: side === 'buy',
  })
  const action: Action = {
    subaccountId: account,
    nonce,
    module,
    data,
    expiry: BigInt(expirySec),
    owner,
    signer: owner,
  }
  return {
    order_id: terms.orderId,
    owner_address: owner,
    signer_address: owner,
    subaccount_id: `${account}`,
    recipient_id: `${account}`,
    nonce: `${nonce}`,
    asset_address: asset,
    sub_id: `${subId}`,
    worst_fee: `${worstFee}`,
    expiry: expirySec,
    action_json: {
      subaccount_id: `${account}`,
      nonce: `${nonce}`,
      module,
      data,
      expiry: `${expirySec}`,
      owner,
      signer: owner,
    },
    signature: signatureOf(trader, digestOf(action), terms.forged),
    side,
    desired_amount: formatDecimal(amount, 18),
    limit_price: formatDecimal(price, 18),
    market: market.market,
    ...(terms.reduceOnly && { reduce_only: true }),
    time_in_force: terms.controls.timeInForce,
    post_only: terms.controls.postOnly,
    stp: terms.controls.stp,
    stp_scope: terms.controls.stpScope,
    lease_id: terms.controls.leaseId,
  }
}

function signatureOf({ owner, key }: Trader, digest: Hex, forged: boolean): Hex {
  if (key === undefined) {
    return walletSignature(forged ? `0x${'66'.repeat(20)}` : owner, digest)
  }
  const signed = forged ? new Uint8Array(32).fill(7) : hexToBytes(digest)
  const { signature, recid } = secp256k1.ecdsaSign(signed, key)
  return `${bytesToHex(signature)}${(27 + recid).toString(16)}`
}
