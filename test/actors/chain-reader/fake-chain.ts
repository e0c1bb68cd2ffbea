import type { ChainSource } from '../../../actors/chain-reader/follow-accounts.js'
import type { ChainHead } from '../../../chain/reads/blocks.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import type { Touch } from '../../../chain/reads/touches.js'
import type { Address, Hex } from '../../../core/action.js'
import { balanceFacts } from '../../../core/contracts/balances.js'
import type { AccountObservation } from '../../../core/model/observation.js'
import { amountE18, quoteE18 } from '../../../core/money.js'

/** Settles the matches of the fake's market. */
export const TRADE_MODULE: Address = `0x${'b'.repeat(40)}`
const OWNER: Address = `0x${'a'.repeat(40)}`

interface FakeBlock {
  readonly hash: Hex
  readonly touches: readonly Touch[]
  readonly keys: readonly Address[]
  /** What each account has of base after the block. */
  readonly balances: ReadonlyMap<bigint, bigint>
}

/** A chain of blocks in memory, whose balances and faults a test sets. */
export interface FakeChain extends ChainSource {
  /** Mines a block that sets these balances; `quiet` leaves out their events, `byTrade` names their transaction. */
  mine(balances?: Readonly<Record<number, bigint>>, how?: MineOptions): void
  /** Takes away so many blocks; what is mined next has other hashes. */
  goBack(blocks: number): void
  /** The node shows nothing above this block; undefined shows all. */
  lagTo(number: bigint | undefined): void
  /** From now on these questions go unanswered. */
  fail(what: FakeFailure): void
  observe(subaccountId: bigint, head: ChainHead): Promise<AccountObservation>
  /** Accounts that were read, in order. */
  readonly observed: bigint[]
}

interface FakeFailure {
  readonly all?: boolean
  readonly touches?: boolean
  readonly keys?: boolean
}

export interface MineOptions {
  /** The keys that delegate in the block. */
  readonly keys?: readonly Address[]
  readonly quiet?: boolean
  readonly byTrade?: Hex
  /** By default the module of the market. */
  readonly module?: Address
}

export function fakeChain(): FakeChain {
  const blocks: FakeBlock[] = [{ hash: '0xb0', touches: [], keys: [], balances: new Map() }]
  const observed: bigint[] = []
  let mined = 0
  let shown: bigint | undefined
  let failing: FakeFailure = {}

  const answer = <T>(value: () => T): Promise<T> =>
    failing.all === true
      ? Promise.reject(new ChainUnreachable('no answer'))
      : Promise.resolve().then(value)
  const at = (number: bigint): FakeBlock => {
    const block = blocks[Number(number)]
    if (block === undefined) throw new ChainUnreachable(`no block ${number}`)
    return block
  }
  const headNumber = (): bigint => {
    const last = BigInt(blocks.length - 1)
    return shown !== undefined && shown < last ? shown : last
  }
  return {
    observed,
    mine: (balances = {}, { quiet = false, byTrade, module = TRADE_MODULE, keys = [] } = {}) => {
      mined += 1
      const changed = Object.entries(balances).map(([id, base]) => [BigInt(id), base] as const)
      const touches = changed.map(([subaccountId]) => ({
        subaccountId,
        txHash: byTrade ?? (`0x${mined}` as const),
        tradedBy: byTrade === undefined ? [] : [module],
      }))
      blocks.push({
        hash: `0xb${mined}`,
        touches: quiet ? [] : touches,
        keys,
        balances: new Map([...(blocks.at(-1)?.balances ?? []), ...changed]),
      })
    },
    goBack: (count) => void blocks.splice(blocks.length - count),
    lagTo: (number) => (shown = number),
    fail: (what) => (failing = what),
    readHead: () =>
      answer(() => {
        const number = headNumber()
        const parentHash = number === 0n ? '0x' : at(number - 1n).hash
        return { number, hash: at(number).hash, parentHash, timestamp: number }
      }),
    readBlockHash: (number) => answer(() => at(number).hash),
    readTouches: (first, last) =>
      answer(() => {
        if (failing.touches === true) throw new ChainUnreachable('no events')
        return blocks.slice(Number(first), Number(last) + 1).flatMap(({ touches }) => touches)
      }),
    readDelegations: (first, { number }) =>
      answer(() => {
        if (failing.keys === true) throw new ChainUnreachable('no transactions')
        return blocks.slice(Number(first), Number(number) + 1).flatMap(({ keys }) => keys)
      }),
    observe: (subaccountId, head) =>
      answer(() => {
        observed.push(subaccountId)
        return {
          subaccountId,
          facts: balanceFacts({
            base: amountE18(at(head.number).balances.get(subaccountId) ?? 0n),
            quote: quoteE18(0n),
          }),
          custodyOwner: OWNER,
          leaving: false,
          blockNumber: head.number,
          blockTimeSec: Number(head.timestamp),
        }
      }),
  }
}
