import { chainContractOf } from '../chain/contracts/registry.js'
import { readWiring } from '../chain/contracts/wiring.js'
import type { SenderHead } from '../chain/reads/blocks.js'
import { ChainUnreachable } from '../chain/reads/client.js'
import {
  readDeploymentFault,
  readMarketFault,
  type FaultReads,
  type VenueFault,
} from '../chain/reads/read-faults.js'
import { venueFaultOf } from '../core/contracts/faults.js'
import { tradingOf } from '../core/contracts/registry.js'
import type { Market } from '../core/model/market.js'
import { revertFields } from '../core/revert.js'
import type { ExecutorObserver } from './observe.js'
import type { MatchPacker, SettlementTerms } from './settlement.js'

/** Why the chain refuses every match of a market, by the name of the market and of the revert. */
export type StandingFaults = ReadonlyMap<string, string>

/** What the executor knows of faults that are not an order's. */
export interface FaultWatch {
  /** The markets whose matches the chain refuses now; undefined while the chain does not answer. */
  readonly standing: () => StandingFaults | undefined
  /** Why no match of any market can be settled. */
  readonly trouble: () => string | undefined
  /**
   * A match was refused for a fault of the venue: its market has that fault until the same call says otherwise. A fault of
   * one match's price is none of its market.
   */
  readonly refused: (market: string, terms: SettlementTerms, revert: string) => void
  readonly stop: () => Promise<void>
}

export interface FaultWatchOptions extends FaultReads {
  /** Always the same array: a market that was added is read from the next look on. */
  readonly markets: readonly Market[]
  readonly packer: Pick<MatchPacker, 'simulate'>
  readonly readHead: () => Promise<SenderHead>
  readonly facts: Pick<ExecutorObserver, 'faultFound' | 'faultGone'>
  /** Called when the watch itself is broken. */
  readonly onFatal: (error: unknown) => void
  /** Half of the chain's block time by default. */
  readonly everyMs?: number
}

const EVERY_MS = 1_000
/** Stands where a revert would: the market is another than its row says. */
const WRONG_WIRING = 'wrong_wiring'

/** A match that tells whether a fault still stands: as far as the venue can know, any other one is refused as well. */
interface Witness {
  readonly terms: SettlementTerms
  readonly revert: string
}

/** Reads the fault of a market. Wiring is read once: nothing changes it while this process runs. */
function marketFaults(reads: FaultReads): (market: Market) => Promise<VenueFault | undefined> {
  const wirings = new Map<string, VenueFault | undefined>()
  return async (market) => {
    const { market: name } = market
    if (!wirings.has(name)) {
      const why = await readWiring(reads, market)
      wirings.set(name, why === undefined ? undefined : { revert: WRONG_WIRING, why })
    }
    return wirings.get(name) ?? readMarketFault(reads, market)
  }
}

/**
 * Reads regularly what a settlement needs besides its orders: the right to settle, the allowed module, the managers'
 * pause. A fault that only a match shows (a stale feed, a cap, a missing consent) is looked for with the newest match
 * that met it, one for each market.
 */
export async function watchFaults(options: FaultWatchOptions): Promise<FaultWatch> {
  const { facts, everyMs = EVERY_MS, onFatal } = options
  const witnesses = new Map<string, Witness>()
  const faultOf = marketFaults(options)
  let everywhere: VenueFault | undefined
  let faults: StandingFaults | undefined

  async function look(): Promise<void> {
    const markets = options.markets.filter(chainContractOf)
    const [general, ...each] = await Promise.all([
      readDeploymentFault(options),
      ...markets.map(faultOf),
    ])
    const found = new Map<string, string>()
    for (const [i, { market }] of markets.entries()) {
      const seen = (general ?? each[i])?.revert ?? (await askWitness(market))
      if (seen !== undefined) found.set(market, seen)
    }
    report(found, new Map(markets.map(({ market }, i) => [market, (general ?? each[i])?.why])))
    everywhere = general
    faults = found
  }

  async function askWitness(market: string): Promise<string | undefined> {
    const witness = witnesses.get(market)
    if (witness === undefined) return undefined
    const { terms, revert } = witness
    const { verdicts } = await options.packer.simulate(await options.readHead(), [terms], [])
    const [verdict] = verdicts
    const stands =
      verdict?.kind === 'untried' || (verdict?.kind === 'reverts' && verdict.revert === revert)
    if (stands) return revertFields(revert).revert
    if (witnesses.get(market) === witness) witnesses.delete(market)
    return undefined
  }

  function report(found: StandingFaults, why: ReadonlyMap<string, string | undefined>): void {
    for (const [market, revert] of found) {
      if (faults?.get(market) !== revert) facts.faultFound(market, revert, why.get(market))
    }
    for (const market of faults?.keys() ?? []) if (!found.has(market)) facts.faultGone(market)
  }

  const attempt = (): Promise<void> =>
    look().catch((error: unknown) => {
      if (!(error instanceof ChainUnreachable)) return onFatal(error)
      faults = undefined
    })

  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let looking = attempt()
  const again = (): void => {
    if (!stopped) timer = setTimeout(() => void (looking = attempt().then(again)), everyMs)
  }
  await looking
  again()
  return {
    standing: () => faults,
    trouble: () => everywhere?.why,
    refused: (market, terms, revert) =>
      void (isOfPrice(options, market, revert) || witnesses.set(market, { terms, revert })),
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await looking
    },
  }
}

/** Whether the revert concerns one match's price: matches at other prices are settled meanwhile. */
function isOfPrice(
  { markets }: Pick<FaultWatchOptions, 'markets'>,
  name: string,
  revert: string,
): boolean {
  const market = markets.find((each) => each.market === name)
  return market !== undefined && venueFaultOf(tradingOf(market), revert) === 'price'
}
