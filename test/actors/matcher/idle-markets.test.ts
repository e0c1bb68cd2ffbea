import { expect } from 'chai'
import { startChainReader, type ChainReader } from '../../../actors/chain-reader/start.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import {
  checkpointsStream,
  commandsStream,
  commandsSubject,
  feedStream,
} from '../../../bus-schemas/subjects.js'
import type { AccountFacts, MarketFacts } from '../../../core/model/observation.js'
import { hideFuture, hideFutureAccount } from '../../../core/contracts/future-facts.js'
import type { Market } from '../../../core/model/market.js'
import { hidePerpetual, hidePerpetualAccount } from '../../../core/contracts/perpetual-facts.js'
import { INTAKE_SOURCE, type Command } from '../../../core/model/command.js'
import { FACTS_SPARE_MS, TICK_AFTER_MS } from '../../../core/model/limits.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aFuture, aMarket, anOrder, aPerp } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { silentLog } from '../../support/intake-stage.js'
import { perpetualAccount, perpetualFacts } from '../../support/perpetual.js'
import { fakeChain } from '../chain-reader/fake-chain.js'
import { startOn, type StartedMatcher } from './stage.js'

const COUNT = 50
const SECONDS = 60
/** After so long the facts of a market without orders rest, with the seconds of the start. */
const BEGINNING = 75

type Fields = { readonly market: string; readonly ordinal: number }

interface Kind {
  readonly name: string
  readonly market: (fields: Fields) => Market
  /** Those of a market and of each account. */
  readonly facts?: readonly [MarketFacts, AccountFacts]
}

const KINDS = {
  spot: { name: 'spot', market: aMarket },
  perpetual: {
    name: 'perpetual',
    market: aPerp,
    facts: [hidePerpetual(perpetualFacts()), hidePerpetualAccount(perpetualAccount())],
  },
  future: {
    name: 'future',
    market: aFuture,
    facts: [
      hideFuture(futureFacts({ expirySec: 4_000_000_000 })),
      hideFutureAccount(futureAccount()),
    ],
  },
} satisfies Record<string, Kind>

describe('fifty idle markets', () => {
  let bus: MemoryBus
  let clockMs: number
  let markets: readonly Market[]
  let started: StartedMatcher[]
  let reader: ChainReader | undefined
  const fatal: unknown[] = []
  /** When each matcher, and the chain reader, has last looked at the clock. */
  let lookedAtMs: Map<string, number>

  beforeEach(() => {
    clockMs = Date.now()
    lookedAtMs = new Map()
    bus = createMemoryBus({ nowMs: () => clockMs })
    started = []
  })
  afterEach(async () => {
    await reader?.stop()
    reader = undefined
    for (const each of started) await each.matcher.stop()
    expect([...fatal, ...started.flatMap((each) => each.fatal)]).to.deep.equal([])
  })

  async function startMatchers(kind: Kind): Promise<void> {
    markets = Array.from({ length: COUNT }, (_, n) =>
      kind.market({ market: `M${n}-USDC`, ordinal: n + 1 }),
    )
    for (const market of markets) {
      const nowMs = () => {
        lookedAtMs.set(market.market, clockMs)
        return clockMs
      }
      started.push(await startOn(bus.connect(), { market, nowMs, tickMs: 10 }))
    }
    // A market without orders takes the newest engine version, a while after its matcher leads.
    for (const market of markets)
      await eventually(async () =>
        expect(await kindsSince(1, market)).to.include('EngineVersionSet'),
      )
  }
  async function startReader({ facts }: Kind): Promise<() => void> {
    const chain = fakeChain()
    const readHead = async () => {
      const head = await chain.readHead()
      lookedAtMs.set('chain-reader', clockMs)
      return { ...head, timestamp: BigInt(Math.floor(clockMs / 1_000)) }
    }
    reader = await startChainReader({
      bus: bus.connect(),
      markets,
      chain: { ...chain, readHead },
      observe: async (_, id, head) => ({
        ...(await chain.observe(id, { ...head, parentHash: '0x' })),
        ...(facts !== undefined && { facts: facts[1] }),
      }),
      ...(facts !== undefined && {
        observeMarket: (_, { number, timestamp }, readAtMs) =>
          Promise.resolve({
            facts: facts[0],
            blockNumber: number,
            readAtMs,
            blockTimeSec: Number(timestamp),
          }),
      }),
      nowMs: () => clockMs,
      log: silentLog,
      pollMs: 5,
      onFatal: (error) => fatal.push(error),
    })
    return () => chain.mine()
  }
  /** A second after the other, in each of which every process looks at its clock. */
  async function pass(seconds: number, mine: () => void = () => undefined): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      clockMs += 1_000
      if (second % 2 === 0) mine()
      await eventually(() => [...lookedAtMs.values()].every((atMs) => atMs === clockMs))
    }
  }
  async function appended(): Promise<number> {
    let sum = 0
    for (const { market } of markets)
      for (const stream of [commandsStream, feedStream, checkpointsStream])
        sum += (await bus.streamState(stream(market))).lastSeq
    return sum
  }
  const endOf = async ({ market }: Market) =>
    (await bus.streamState(commandsStream(market))).lastSeq
  const kindsSince = async (fromSeq: number, market: Market) =>
    (await bus.read(commandsStream(market.market), fromSeq, 1_000))
      .flatMap(({ data }) => commandMessages(market).decode(data))
      .map(({ command }) => command.kind)
  const standingsSince = async (fromSeq: number, { market }: Market) =>
    (await bus.read(feedStream(market), fromSeq, 1_000)).flatMap(
      ({ data }) => decodeBlock(data).terms?.standing.status ?? [],
    )
  const firstMarket = (): Market => {
    const [first] = markets
    if (first === undefined) throw new Error('no market')
    return first
  }

  for (const kind of Object.values<Kind>(KINDS)) {
    it(`append at most five messages a second in all, ${kind.name} (OPE-052)`, async () => {
      await startMatchers(kind)
      const mine = await startReader(kind)
      await pass(BEGINNING, mine)
      const before = await appended()
      const from = (await endOf(firstMarket())) + 1
      await pass(SECONDS, mine)
      expect((await appended()) - before).to.be.at.most(5 * SECONDS)
      const kinds = new Set(await kindsSince(from, firstMarket()))
      const facts = kind.facts === undefined ? [] : ['MarketObserved']
      expect(kinds).to.deep.equal(new Set(['ClockObserved', ...facts]))
    })
  }

  for (const kind of [KINDS.perpetual, KINDS.future]) {
    it(`have fresh facts as soon as one has an order, and are held without a reader, ${kind.name} (OPE-054)`, async () => {
      await startMatchers(kind)
      const mine = await startReader(kind)
      await pass(BEGINNING, mine)
      const market = firstMarket()
      const feedAt = (await bus.streamState(feedStream(market.market))).lastSeq + 1
      const from = (await endOf(market)) + 1
      let sourceNo = 0
      const send = (command: Command) => {
        sourceNo += 1
        const logged = { source: INTAKE_SOURCE, sourceNo, atMs: clockMs, command }
        return bus.append(commandsSubject(market.market), commandMessages(market).encode([logged]))
      }
      const { owner, nonce } = anOrder()
      const order = anOrder({ market: market.market, goodUntilSec: 3_900_000_000 })
      await send({ kind: 'PlaceOrder', order })
      // Within the same second.
      await eventually(async () =>
        expect(await kindsSince(from, market)).to.include('MarketObserved'),
      )
      await pass(10, mine)
      const ofTen = (await kindsSince(from, market)).filter((each) => each === 'MarketObserved')
      expect(ofTen.length).to.be.at.least(10)
      await send({ kind: 'CancelOrder', owner, nonce, reason: 'unspecified' })
      await pass(BEGINNING, mine)
      const quiet = (await endOf(market)) + 1
      await pass(30, mine)
      const ofThirty = (await kindsSince(quiet, market)).filter((each) => each === 'MarketObserved')
      expect(ofThirty.length).to.be.at.most(2)
      // A tick may be faster than the facts: the market is held between the two.
      expect((await standingsSince(feedAt, market)).at(-1) ?? 'open').to.equal('open')
      await reader?.stop()
      reader = undefined
      lookedAtMs.delete('chain-reader')
      await pass((FACTS_SPARE_MS + 20_000) / 1_000)
      await eventually(async () =>
        expect((await standingsSince(feedAt, market)).at(-1)).to.equal('held'),
      )
    })
  }

  it('get a tick each half minute when no clock is compared (OPE-051)', async () => {
    await startMatchers(KINDS.spot)
    const halfMinute = TICK_AFTER_MS / 1_000
    for (const before of [await appended(), (await appended()) + COUNT]) {
      // A tick may be stamped in the second after the one in which it was due.
      await pass(halfMinute - 2)
      expect(await appended()).to.equal(before)
      await pass(3)
      await eventually(async () => expect(await appended()).to.equal(before + COUNT))
    }
  })
})
