import type { Address } from '../../core/action.js'
import type { Fill } from '../../core/model/match.js'
import type { Order } from '../../core/model/order.js'
import { AT, balanceKey, balanceOf, FEE_ACCOUNT, type ChainState } from './chain-state.js'
import type { SimulatedChain } from './chain.js'
import type { FeedAudit } from './feed-audit.js'
import { variationAt } from './futures-manager.js'
import { unsettledOf } from './perp-contract.js'

/** What accounts hold on the chain against what they were given and their fills, over all markets together. */

const E18 = 10n ** 18n
/** Profit of a perpetual is truncated at each settlement. */
const DUST = 1_000n

export interface Audited {
  readonly chain: SimulatedChain
  readonly audits: readonly FeedAudit[]
  readonly onFinding: (what: string, detail: unknown) => void
}

/** One order's side of a fill that stands, signed. */
interface Leg {
  readonly account: bigint
  readonly size: bigint
  readonly price: bigint
  readonly fee: bigint
}

/** I-4 and I-18: nothing is lost, doubled or made, and every balance follows from fills. */
export function checkBalances({ chain, audits, onFinding }: Audited): void {
  const { state } = chain.head()
  const legs = new Map(audits.map((audit) => [audit.market.contractType, legsOf(audit)]))
  const expected = new Map<string, bigint>(state.given)
  const add = (account: bigint, asset: Address, amount: bigint): void => {
    const key = balanceKey(account, asset)
    expected.set(key, (expected.get(key) ?? 0n) + amount)
  }
  for (const { account, size, price, fee } of legs.get('spot') ?? []) {
    const quote = (price * (size < 0n ? -size : size)) / E18
    add(account, AT.cngn, size)
    add(account, AT.usdc, (size > 0n ? -quote : quote) - fee)
    add(FEE_ACCOUNT, AT.usdc, fee)
  }
  for (const { account, size, price, fee } of legs.get('future') ?? []) {
    const { mark = 0n } = state.future ?? {}
    add(account, AT.futureAsset, size / 1_000n)
    add(account, AT.cngn, (size / E18) * (mark - price))
    add(account, AT.usdc, -fee)
    add(FEE_ACCOUNT, AT.usdc, fee)
  }
  for (const { account, size, fee } of legs.get('perpetual') ?? []) {
    add(account, AT.perpAsset, size)
    add(FEE_ACCOUNT, AT.cash, fee)
  }
  const balances = held(state)
  for (const key of new Set([...balances.keys(), ...expected.keys()])) {
    const ours = expected.get(key) ?? 0n
    const amount = balances.get(key) ?? 0n
    const isCash = key.endsWith(AT.cash) && !key.startsWith(`${FEE_ACCOUNT} `)
    if (!isCash && ours !== amount) {
      onFinding(`I-18 balance ${key}: ${ours} here, ${amount} on chain`, { ours, amount })
    }
  }
  checkSums(state, onFinding)
}

/** A fill of a future states the mark at which the chain has booked it; one that the chain moved to another block may not. */
export function checkMarks({ chain, audits, onFinding }: Audited): void {
  if (chain.wasReorganised()) return
  const booked = new Set<string>()
  for (let number = chain.head().number; number >= 0; number--) {
    for (const fill of chain.block(number)?.receipts.flatMap((receipt) => receipt.booked) ?? []) {
      booked.add([fill.taker, fill.maker, fill.amount, fill.price, fill.mark].join())
    }
  }
  for (const audit of audits.filter(({ market }) => market.contractType === 'future')) {
    for (const fill of audit.standing()) {
      const taker = audit.orders.get(fill.takerOrderId)?.order.subaccountId
      const maker = audit.orders.get(fill.makerOrderId)?.order.subaccountId
      const amount = fill.amount / 1_000n
      const key = [taker, maker, amount, fill.price, fill.markPrice].join()
      if (!booked.has(key)) onFinding(`F11 ${fill.settlementId} states another mark`, fill)
    }
  }
}

const legsOf = (audit: FeedAudit): Leg[] =>
  audit.standing().flatMap((fill) => {
    const maker = audit.orders.get(fill.makerOrderId)
    const taker = audit.orders.get(fill.takerOrderId)
    if (maker === undefined || taker === undefined) return []
    return [legOf(maker.order, fill, 0n), legOf(taker.order, fill, fill.fee)]
  })

const legOf = ({ side, subaccountId }: Order, { amount, price }: Fill, fee: bigint): Leg => ({
  account: subaccountId,
  price,
  fee,
  size: side === 'buy' ? amount : 0n - amount,
})

/** Balances, cNGN with all variation margin. */
function held(state: ChainState): Map<string, bigint> {
  const { future } = state
  const balances = new Map(state.balances)
  if (future === undefined) return balances
  for (const account of state.managers.keys()) {
    const key = balanceKey(account, AT.cngn)
    const owned = balances.get(key) ?? 0n
    const variation = variationAt(state, future, account)
    if (owned !== 0n || variation !== 0n) balances.set(key, owned + variation)
  }
  return balances
}

function checkSums(state: ChainState, onFinding: Audited['onFinding']): void {
  const { perp, future, managers } = state
  const accounts = [FEE_ACCOUNT, ...managers.keys()]
  const sum = (of: (account: bigint) => bigint): bigint =>
    accounts.reduce((total, account) => total + of(account), 0n)
  const given = (asset: Address): bigint =>
    sum((account) => state.given.get(balanceKey(account, asset)) ?? 0n)
  const sums: [string, bigint, bigint][] = [
    ['cNGN', sum((id) => balanceOf(state, id, AT.cngn)) + (future?.pool ?? 0n), given(AT.cngn)],
    ['USDC', sum((id) => balanceOf(state, id, AT.usdc)), given(AT.usdc)],
    ['positions of the perpetual', sum((id) => balanceOf(state, id, AT.perpAsset)), 0n],
    ['positions of the future', sum((id) => balanceOf(state, id, AT.futureAsset)), 0n],
  ]
  if (future !== undefined) {
    sums.push(['ledgers', sum((id) => variationAt(state, future, id)), future.pool])
  }
  for (const [what, found, wanted] of sums) {
    if (found !== wanted) onFinding(`I-4 sum of ${what}: ${found}, not ${wanted}`, found)
  }
  if (perp === undefined) return
  const cash = sum((id) => balanceOf(state, id, AT.cash) + unsettledOf(state, perp, id))
  const off = cash - given(AT.cash)
  if (off > DUST || off < -DUST) onFinding(`I-4 cash is off by ${off}`, off)
}
