import { AT, setBalance } from './chain-state.js'
import { NORMAL_BASE_FEE, type SimulatedChain } from './chain.js'
import { FAIR, type Network, type Weather } from './network.js'
import type { Operator } from './operator.js'
import { endFaults, futureMoves, perpMoves, venueFaults, type Trick } from './chain-trouble.js'
import { delegationTrouble } from './delegation-trouble.js'
import type { SimulatedProcess } from './process.js'
import type { Random } from './random.js'
import type { Traders } from './traders.js'
import type { Follower } from './followers.js'

/** Everything that can be made to go wrong, and the load meanwhile. */
export interface Stage {
  readonly network: Network
  readonly chain: SimulatedChain
  readonly processes: readonly SimulatedProcess[]
  readonly traders: Traders
  readonly operator: Operator
  readonly followers: readonly Follower[]
}

/** Chooses what happens next. */
export interface Adversary {
  step(): void
  /** Stops making trouble and repairs what is broken; what is already under way takes its course. */
  relent(): void
}

/** Which sorts of trouble a seed has; each seed has some, so that each sort also meets the others' absence. */
export interface Troubles {
  readonly crashes: boolean
  readonly bus: boolean
  readonly chain: boolean
  readonly reorganisations: boolean
  readonly clocks: boolean
  readonly funds: boolean
  /** Blocks in which matches use more gas than when they were tried out. */
  readonly gas: boolean
  /** Foreign transactions use the executor's key. */
  readonly foreignTransactions: boolean
  /** Orders that expire while the simulation runs. */
  readonly shortLives: boolean
  /** The chain refuses every match for a while, whatever the orders. */
  readonly faults: boolean
  /** An operator changes the fee, pauses and disables the market. */
  readonly rules: boolean
  /** Keys delegate to wallets within a block (EIP-7702), and take that back. */
  readonly delegations: boolean
}

/**
 * Draws a seed's troubles. Where there are reorganisations, and accounts, wallets, gas or time move as well, a match
 * may come to something else in the end than was told: then the venue has to take a result back.
 */
export function chooseTroubles(random: Random): Troubles {
  return {
    crashes: random.chance(0.7),
    bus: random.chance(0.6),
    chain: random.chance(0.6),
    reorganisations: random.chance(0.4),
    clocks: random.chance(0.3),
    funds: random.chance(0.5),
    shortLives: random.chance(0.6),
    gas: random.chance(0.5),
    foreignTransactions: random.chance(0.2),
    faults: random.chance(0.4),
    rules: random.chance(0.5),
    delegations: random.chance(0.5),
  }
}

const E18 = 10n ** 18n
const MAX_REORGANISATION = 12

export function createAdversary(stage: Stage, random: Random, troubles: Troubles): Adversary {
  const tricks = [
    ...load(stage, random),
    ...(troubles.crashes ? crashes(stage, random) : []),
    ...(troubles.bus ? busTrouble(stage, random) : []),
    ...(troubles.chain ? chainTrouble(stage, random) : []),
    ...(troubles.reorganisations ? reorganisations(stage, random) : []),
    ...(troubles.clocks ? clockTrouble(stage, random) : []),
    ...(troubles.gas ? gasTrouble(stage, random) : []),
    ...(troubles.foreignTransactions ? foreignTransactions(stage) : []),
    ...(troubles.funds ? fundTrouble(stage, random) : []),
    ...(troubles.faults ? venueFaults(stage, random) : []),
    ...(stage.chain.head().state.perp ? perpMoves(stage, random) : []),
    ...(stage.chain.head().state.future ? futureMoves(stage, random) : []),
    ...(troubles.delegations ? delegationTrouble(stage, random) : []),
    ...(troubles.rules ? [{ weight: 4, play: () => stage.operator.act() }] : []),
  ]
  const total = tricks.reduce((sum, { weight }) => sum + weight, 0)
  return {
    step() {
      let drawn = random.next() * total
      const trick = tricks.find(({ weight }) => (drawn -= weight) < 0)
      trick?.play()
    },
    relent() {
      const { network, chain, processes, traders } = stage
      Object.assign(network.weather, FAIR)
      chain.setBaseFee(NORMAL_BASE_FEE)
      chain.setHunger(false)
      endFaults(stage)
      chain.setAmbush(undefined)
      chain.happen((state) => state.delegates.clear())
      traders.line.setConnected(true)
      for (const process of processes) {
        process.setConnected(true)
        process.setSkew(0)
      }
      network.world.note('all trouble ends')
    },
  }
}

function load({ traders, followers }: Stage, random: Random): Trick[] {
  return [
    { weight: 60, play: () => traders.place() },
    { weight: 8, play: () => traders.cancel() },
    { weight: 2, play: () => traders.replace() },
    { weight: 2, play: () => traders.reduce() },
    { weight: 4, play: () => traders.mass.act() },
    { weight: 4, play: () => traders.repeat() },
    { weight: 2, play: () => random.pick(followers).disconnect() },
    { weight: 6, play: () => undefined },
  ]
}

function crashes(stage: Stage, random: Random): Trick[] {
  const { processes } = stage
  return [
    { weight: 3, play: () => storm(stage, random, { atPoints: 0.05 }) },
    { weight: 6, play: () => random.pick(processes).crash('killed') },
    { weight: 1, play: () => random.pick(processes).terminate() },
    { weight: 1, play: () => processes.forEach((process) => process.crash('power cut')) },
  ]
}

/** Bad weather for a while. */
function storm({ network }: Stage, random: Random, weather: Partial<Weather>): void {
  Object.assign(network.weather, weather)
  network.world.note(`weather ${JSON.stringify(weather)}`)
  const fair = Object.fromEntries(
    Object.keys(weather).map((name) => [name, FAIR[name as keyof Weather]]),
  )
  network.world.after(network.wire, 500 + random.int(6_000), () => {
    Object.assign(network.weather, fair)
  })
}

function busTrouble(stage: Stage, random: Random): Trick[] {
  const { network, processes, traders } = stage
  const outage = (lines: readonly Pick<SimulatedProcess, 'setConnected'>[]): void => {
    for (const line of lines) line.setConnected(false)
    network.world.note(`bus outage of ${lines.length}`)
    network.world.after(network.wire, 100 + random.int(6_000), () => {
      for (const line of lines) line.setConnected(true)
    })
  }
  return [
    { weight: 2, play: () => storm(stage, random, { lostAcks: 0.3 }) },
    { weight: 2, play: () => storm(stage, random, { lostAppends: 0.3 }) },
    { weight: 2, play: () => storm(stage, random, { lateAppends: 0.3 }) },
    { weight: 2, play: () => storm(stage, random, { doubledAppends: 0.5 }) },
    { weight: 2, play: () => storm(stage, random, { lostAsks: 0.3 }) },
    { weight: 2, play: () => storm(stage, random, { stalls: 0.1, stallMs: 2_000 }) },
    { weight: 1, play: () => outage([...processes, traders.line]) },
    { weight: 2, play: () => outage([random.pick(processes)]) },
  ]
}

function chainTrouble(stage: Stage, random: Random): Trick[] {
  const { chain, network } = stage
  const { world } = network
  return [
    { weight: 2, play: () => storm(stage, random, { lostCalls: 0.4 }) },
    { weight: 1, play: () => storm(stage, random, { lostCalls: 1 }) },
    { weight: 2, play: () => storm(stage, random, { refusedCalls: 0.6 }) },
    {
      weight: 2,
      play: () => world.note(`dropped ${chain.dropPooled(0.6)} from the pool`),
    },
    {
      weight: 1,
      play: () => {
        chain.setBaseFee(NORMAL_BASE_FEE * 50n)
        world.note('fees rise')
        world.after(network.wire, 4_000 + random.int(20_000), () => {
          chain.setBaseFee(NORMAL_BASE_FEE)
        })
      },
    },
  ]
}

function foreignTransactions({ chain, network }: Stage): Trick[] {
  return [
    {
      weight: 2,
      play: () => {
        chain.sendForeign()
        network.world.note("a foreign transaction uses the executor's key")
      },
    },
  ]
}

function gasTrouble({ chain, network }: Stage, random: Random): Trick[] {
  return [
    {
      weight: 1,
      play: () => {
        chain.setHunger(true)
        network.world.note('matches use more gas')
        network.world.after(network.wire, 4_000 + random.int(20_000), () => {
          chain.setHunger(false)
        })
      },
    },
  ]
}

function reorganisations({ chain, network }: Stage, random: Random): Trick[] {
  return [
    {
      weight: 2,
      play: () => {
        const depth = 1 + random.int(random.chance(0.5) ? 3 : MAX_REORGANISATION)
        network.world.note(`reorganisation of ${depth} at ${chain.head().number}`)
        chain.reorganise(depth)
      },
    },
  ]
}

function clockTrouble({ processes, network }: Stage, random: Random): Trick[] {
  return [
    {
      weight: 2,
      play: () => {
        const process = random.pick(processes)
        const ms = random.int(8_000) - 4_000
        network.world.note(`clock of ${process.name} steps to ${ms}`)
        process.setSkew(ms)
      },
    },
  ]
}

function fundTrouble({ chain, traders, network }: Stage, random: Random): Trick[] {
  const { world } = network
  return [
    {
      weight: 3,
      play: () => {
        const { accounts } = random.pick(traders.traders)
        const { perp } = chain.head().state
        const isCash = perp !== undefined && random.chance(0.3)
        const asset = isCash ? AT.cash : random.pick([AT.cngn, AT.usdc])
        const account = random.pick(accounts.get(isCash ? AT.perpManager : AT.manager) ?? [])
        const amount = BigInt(random.int(isCash ? 6 : 60)) * E18
        world.note(`balance ${account} ${asset} becomes ${amount}`)
        chain.happen((state) => setBalance(state, account, asset, amount))
      },
    },
    {
      weight: 1,
      play: () => {
        const { owner, key } = random.pick(traders.traders)
        if (key !== undefined) return
        world.note(`wallet ${owner} denies its signatures`)
        chain.happen((state) => void state.wallets.set(owner, false))
        world.after(network.wire, 3_000 + random.int(15_000), () => {
          chain.happen((state) => void state.wallets.set(owner, true))
        })
      },
    },
  ]
}
