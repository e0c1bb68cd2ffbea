import { callsAtNumber } from '../../chain/contracts/observe-account.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import {
  readBalances,
  readLoggers,
  readMoves,
  readSubAccounts,
  type AssetMove,
  type PositionAsset,
} from '../../chain/reads/read-positions.js'
import type { Address } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import type { ChainChecks } from './chain-checks.js'

const PAGE = 500

/** An account whose position is not the sum of its fills. */
interface Odd {
  /** What moved its position besides fills and is explained. */
  explained: bigint
  /** Moves of the blocks that were searched. */
  moved: bigint
  readonly position: bigint
  readonly bought: bigint
  hasFilled: boolean
}

type NameMover = (loggedBy: ReadonlySet<Address>) => string | undefined

/**
 * Checks that the position of each account that traded is the sum of its fills on the chain. What it held before its first
 * fill counts as its opening position; what a contract of the market moved since, such as the auction, is named.
 */
export async function checkPositions(checks: ChainChecks, market: Market): Promise<void> {
  const { client, block, scratch, verdicts } = checks
  const readMovers = chainContractOf(market)?.readMovers
  if (readMovers === undefined) return
  const subAccounts = await readSubAccounts(client, market.tradeModuleAddress)
  const asset = { subAccounts, asset: market.assetAddress, subId: market.subId }
  const bought = scratch.boughtBy(market.market)
  const odd = await findOdd(checks, asset, bought)
  const counts = new Map<string, number>()
  if (odd.size > 0) {
    const nameMover = await readMovers(market, callsAtNumber(client, block.number))
    await explainMoves({ checks, market, asset, nameMover, odd, counts })
    for (const [account, entry] of odd) reportRest(checks, market, { account, entry, counts })
  }
  const named = [...counts].map(([name, count]) => `, ${count} moved by ${name}`).join('')
  verdicts.done(market.market, 'positions', `${bought.size} accounts as their fills say${named}`)
}

async function findOdd(
  { client, block }: ChainChecks,
  asset: PositionAsset,
  bought: ReadonlyMap<bigint, bigint>,
): Promise<Map<bigint, Odd>> {
  const odd = new Map<bigint, Odd>()
  const all = [...bought.keys()]
  for (let from = 0; from < all.length; from += PAGE) {
    const accounts = all.slice(from, from + PAGE)
    const positions = await readBalances(client, asset, { block, accounts })
    for (const [index, account] of accounts.entries()) {
      const position = positions[index] ?? 0n
      const sum = bought.get(account) ?? 0n
      if (position === sum) continue
      odd.set(account, { position, bought: sum, explained: 0n, moved: 0n, hasFilled: false })
    }
  }
  return odd
}

interface ExplanationDeps {
  readonly checks: ChainChecks
  readonly market: Market
  readonly asset: PositionAsset
  readonly nameMover: NameMover
  readonly odd: ReadonlyMap<bigint, Odd>
  /** How many moves had each name. */
  readonly counts: Map<string, number>
}

/** Names each move of these accounts that is not a fill; one that has no name is a difference. */
async function explainMoves(explaining: ExplanationDeps): Promise<void> {
  const { checks, asset, odd } = explaining
  const all = [...odd.keys()]
  for (let from = 0; from < all.length; from += PAGE) {
    const accounts = all.slice(from, from + PAGE)
    const range = { accounts, from: checks.fromBlock, to: checks.block.number }
    for await (const moves of readMoves(checks.client, asset, range))
      for (const move of moves) await explainMove(explaining, move)
  }
}

async function explainMove(
  { checks, market, nameMover, odd, counts }: ExplanationDeps,
  { account, txHash, amount }: AssetMove,
): Promise<void> {
  const entry = odd.get(account)
  if (entry === undefined) return
  const filled = checks.scratch.boughtBy(market.market, txHash).get(account)
  entry.moved += amount
  const extra = amount - (filled ?? 0n)
  if (extra !== 0n) {
    const name = nameMover(await readLoggers(checks.client, txHash)) ?? openingName(entry, filled)
    if (name === undefined) {
      const what = `account ${account}: its position moved by ${extra} in ${txHash}`
      checks.verdicts.find(market.market, 'positions', `${what}, which is not a fill of ours`)
    } else counts.set(name, (counts.get(name) ?? 0) + 1)
    entry.explained += extra
  }
  if (filled !== undefined) entry.hasFilled = true
}

const OPENING = 'an opening position'

const openingName = ({ hasFilled }: Odd, filled: bigint | undefined): string | undefined =>
  hasFilled || filled !== undefined ? undefined : OPENING

/** What was there before the blocks that were searched is an opening position too. */
function reportRest(
  { verdicts }: ChainChecks,
  market: Market,
  {
    account,
    entry,
    counts,
  }: { readonly account: bigint; readonly entry: Odd; readonly counts: Map<string, number> },
): void {
  const { position, bought, explained, moved } = entry
  const before = position - moved
  if (before !== 0n) counts.set(OPENING, (counts.get(OPENING) ?? 0) + 1)
  if (position === bought + explained + before) return
  const what = `account ${account}: its position is ${position}`
  const own = `its fills say ${bought} and other moves ${explained + before}`
  verdicts.find(market.market, 'positions', `${what}, ${own}`)
}
