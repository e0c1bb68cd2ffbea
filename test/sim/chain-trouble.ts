import { AT, setExecutors, type ChainState } from './chain-state.js'
import type { SimulatedChain } from './chain.js'
import type { Network } from './network.js'
import type { Random } from './random.js'
import type { Traders } from './traders.js'

/** What changes on the chain without the venue: faults, prices, funding and auctions. */

export interface Trick {
  readonly weight: number
  readonly play: () => void
}

/** Where these tricks are played. */
export interface ChainStage {
  readonly network: Network
  readonly chain: SimulatedChain
  readonly traders: Traders
}

const E18 = 10n ** 18n

/** So many thousandths of 1, and up to `spread` more. */
const thousandths = (random: Random, from: number, spread: number): bigint =>
  (BigInt(from + random.int(spread)) * E18) / 1_000n

/** For a while the guardian has paused a manager, or matching lets no executor settle. */
export function venueFaults(stage: ChainStage, random: Random): Trick[] {
  const { chain, network } = stage
  const { world } = network
  const forAWhile = (what: string, begin: (state: ChainState) => void): void => {
    world.note(what)
    chain.happen(begin)
    world.after(network.wire, 2_000 + random.int(80_000), () => endFaults(stage))
  }
  return [
    {
      weight: 1,
      play: () => {
        const managers = chain.head().state.perp ? [AT.manager, AT.perpManager] : [AT.manager]
        const manager = random.pick(managers)
        forAWhile(`${manager} is paused`, ({ paused }) => void paused.add(manager))
      },
    },
    {
      weight: 1,
      play: () => forAWhile('no executor may settle', (state) => setExecutors(state, false)),
    },
  ]
}

export function endFaults({ chain, network }: ChainStage): void {
  network.world.note('the chain settles again')
  chain.happen((state) => {
    state.paused.clear()
    state.auctions.clear()
    setExecutors(state, true)
    state.perp &&= { ...state.perp, isStale: false }
    state.future &&= { ...state.future, isStale: false }
  })
}

/** The mark moves, funding is due, accounts are auctioned, and now and then the feeds fall silent. */
export function perpMoves({ chain, network, traders }: ChainStage, random: Random): Trick[] {
  const { world, wire } = network
  const setPrices = (change: Partial<ChainState['perp']>): void =>
    chain.happen((state) => void (state.perp &&= { ...state.perp, ...change }))
  return [
    {
      weight: 5,
      play: () => {
        const mark = thousandths(random, 920, 160)
        world.note(`the mark becomes ${mark}`)
        setPrices({ mark })
      },
    },
    {
      weight: 1,
      play: () => {
        const paid = thousandths(random, -5, 10)
        world.note(`longs pay ${paid} for 1.0`)
        chain.happen((state) => {
          state.perp &&= { ...state.perp, funding: state.perp.funding + paid }
        })
      },
    },
    {
      weight: 1,
      play: () => {
        const account = random.pick(random.pick(traders.traders).accounts.get(AT.perpManager) ?? [])
        world.note(`account ${account} is auctioned`)
        chain.happen(({ auctions }) => void auctions.add(account))
        world.after(wire, 2_000 + random.int(20_000), () => {
          chain.happen(({ auctions }) => void auctions.delete(account))
        })
      },
    },
    {
      weight: 1,
      play: () => {
        world.note('the feeds are stale')
        setPrices({ isStale: true })
        world.after(wire, 2_000 + random.int(20_000), () => setPrices({ isStale: false }))
      },
    },
  ]
}

/** Index and mark of the series move; now and then the index is stale. */
export function futureMoves({ chain, network }: ChainStage, random: Random): Trick[] {
  const { world, wire } = network
  const setPrices = (change: Partial<ChainState['future']>): void =>
    chain.happen((state) => void (state.future &&= { ...state.future, ...change }))
  return [
    {
      weight: 5,
      play: () => {
        // Far enough that some orders are out of reach.
        const index = thousandths(random, 900, 200)
        world.note(`the index becomes ${index}`)
        setPrices({ index })
      },
    },
    {
      weight: 2,
      play: () => {
        const mark = thousandths(random, 950, 100)
        world.note(`the mark of the series becomes ${mark}`)
        setPrices({ mark })
      },
    },
    {
      weight: 1,
      play: () => {
        world.note('the index is stale')
        setPrices({ isStale: true })
        // New orders are refused meanwhile.
        world.after(wire, 1_000 + random.int(6_000), () => setPrices({ isStale: false }))
      },
    },
  ]
}
