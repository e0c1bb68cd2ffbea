import { expect } from 'chai'
import { createLeaseKeeper, type LeaseKeeper } from '../../../actors/ws-fanout/lease-keeper.js'
import {
  decodeCancelsRequest,
  encodeCancelsAnswer,
  type CancelsReply,
  type CancelsRequest,
} from '../../../bus-schemas/cancels.js'
import { askCancels } from '../../../bus-schemas/subjects.js'
import type { Address } from '../../../core/action.js'
import { refusals } from '../../../core/entry/refusals.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { anOrder } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'

const owner: Address = `0x${'a1'.repeat(20)}`
const other: Address = `0x${'b2'.repeat(20)}`
const markets = ['M', 'N']
const working = ({ kind }: CancelsRequest): CancelsReply =>
  kind === 'end_lease'
    ? { kind: 'cancels', feed_seq: 1, outcomes: [], left: 0 }
    : { kind: 'lease', ends_at_ms: 1 }
const ignore = (): void => undefined
const refused = { kind: 'refused', refusal: refusals.cancelTarget } as const

/** One lease for an owner in each market, however many sockets of the owner ask for one. */
describe('the keeper of leases', function () {
  let bus: MemoryBus
  let keepers: LeaseKeeper[]
  let asked: CancelsRequest[]
  let answer: (request: CancelsRequest) => CancelsReply | undefined
  /** What was asked while `answer` gave none, by the market. */
  let unanswered: { readonly market: string; readonly reply: (given?: CancelsReply) => void }[]
  let nowMs: number

  beforeEach(async () => {
    bus = createMemoryBus()
    keepers = []
    asked = []
    unanswered = []
    nowMs = 0
    answer = working
    await bus.answer(askCancels, 'order-intake', (data, replyTo) => {
      const request = decodeCancelsRequest(data)
      asked.push(request)
      const reply = (given = working(request)) => bus.reply(replyTo, encodeCancelsAnswer(given))
      const given = answer(request)
      if (given === undefined) unanswered.push({ market: request.market, reply })
      else reply(given)
    })
  })
  afterEach(() => {
    answer = working
    return Promise.all(keepers.map((keeper) => keeper.stop()))
  })

  const aKeeper = (maxLeases = 10): LeaseKeeper => {
    const keeper = createLeaseKeeper({
      bus,
      log: silentLog,
      maxLeases,
      elapsedMs: () => nowMs,
    })
    keepers.push(keeper)
    return keeper
  }
  /** So much time passes, and what was due has been answered. */
  const pass = async (keeper: LeaseKeeper, seconds: number): Promise<void> => {
    nowMs += seconds * 1_000
    keeper.keep()
    await answered()
  }
  /** The bus in memory answers within a turn of the event loop. */
  const answered = () => new Promise((resolve) => setImmediate(resolve))
  const hold = async (keeper: LeaseKeeper, seconds = 30, of = owner, onEnded = ignore) => {
    const part = await keeper.hold({ owner: of, seconds, markets, onEnded })
    if (part === undefined) throw new Error('the lease is not held')
    return part
  }
  const written = (kind: CancelsRequest['kind']) => asked.filter((each) => each.kind === kind)
  const bodyOf = ({ body }: CancelsRequest) => JSON.parse(body) as Record<string, unknown>
  const idsOf = (kind: CancelsRequest['kind']) =>
    written(kind).map((each) => [each.market, bodyOf(each).lease_id])

  it('writes the lease of an owner once in each market, and once in half of its time', async () => {
    const keeper = aKeeper()
    const parts = await Promise.all(Array.from({ length: 200 }, () => hold(keeper, 10)))
    expect(new Set(parts.map(({ leaseId }) => leaseId)).size).to.equal(200)
    const lease = parts[0]?.leaseId.slice(0, 32)
    expect(idsOf('open_lease')).to.deep.equal(markets.map((market) => [market, lease]))
    await pass(keeper, 4.9)
    expect(written('renew_lease')).to.deep.equal([])
    await pass(keeper, 0.1)
    expect(idsOf('renew_lease')).to.deep.equal(markets.map((market) => [market, lease]))
    await pass(keeper, 4.9)
    expect(asked).to.have.length(2 * markets.length)
    await pass(keeper, 0.1)
    expect(asked).to.have.length(3 * markets.length)
    // Sockets that have placed nothing leave nothing to write.
    for (const part of parts.slice(1)) part.leave()
    expect(written('end_lease')).to.deep.equal([])
    parts[0]?.leave()
    await eventually(() => written('end_lease').length === markets.length)
    expect(idsOf('end_lease')).to.deep.equal(markets.map((market) => [market, lease]))
  })

  it('ends the orders of a socket with it, those on their way too, and no others (CAN-029)', async () => {
    const keeper = aKeeper()
    const first = await hold(keeper)
    const second = await hold(keeper)
    const under = ({ leaseId }: { readonly leaseId: string }, of = owner) =>
      anOrder({ owner: of, leaseId })
    keeper.onPlaced('M', under(first))
    keeper.onPlaced('N', under(second))
    first.leave()
    await eventually(() => written('end_lease').length === 1)
    expect(idsOf('end_lease')).to.deep.equal([['M', first.leaseId]])
    // It was under way when the socket was closed.
    keeper.onPlaced('N', under(first))
    // Another owner's, and one of another process.
    keeper.onPlaced('N', under(first, other))
    keeper.onPlaced('N', under({ leaseId: 'f'.repeat(40) }))
    await eventually(() => written('end_lease').length === 2)
    expect(idsOf('end_lease')[1]).to.deep.equal(['N', first.leaseId])
    expect(written('end_lease').every(({ authenticated }) => authenticated === owner)).to.equal(
      true,
    )
  })

  it('asks again until the orders of a socket are cancelled, since the lease goes on', async () => {
    const keeper = aKeeper()
    const [first] = [await hold(keeper), await hold(keeper)]
    keeper.onPlaced('M', anOrder({ owner, leaseId: first.leaseId }))
    answer = () => refused
    first.leave()
    await answered()
    answer = working
    await pass(keeper, 0.5)
    await pass(keeper, 0.5)
    expect(idsOf('end_lease')).to.deep.equal([1, 2].map(() => ['M', first.leaseId]))
  })

  it('asks once for the orders of a socket that come before a market has answered, and once after', async () => {
    const keeper = aKeeper()
    const [first] = [await hold(keeper), await hold(keeper)]
    const place = (market: string) =>
      keeper.onPlaced(market, anOrder({ owner, leaseId: first.leaseId }))
    answer = () => undefined
    first.leave()
    for (let n = 0; n < 3; n += 1) place('M')
    place('N')
    await pass(keeper, 0.5)
    expect(idsOf('end_lease')).to.deep.equal(markets.map((market) => [market, first.leaseId]))
    place('M')
    answer = working
    for (const { reply } of unanswered) reply()
    await answered()
    await pass(keeper, 0.5)
    expect(idsOf('end_lease').map(([market]) => market)).to.deep.equal(['M', 'N', 'M'])
  })

  it('shortens the lease for a socket that asks for less, and never lengthens it', async () => {
    const keeper = aKeeper()
    const first = await hold(keeper, 60)
    const second = await hold(keeper, 20)
    const third = await hold(keeper, 86_400)
    expect([first, second, third].map((part) => part.seconds())).to.deep.equal([20, 20, 20])
    expect(written('renew_lease').map((each) => bodyOf(each).seconds)).to.deep.equal([20, 20])
    expect(written('open_lease')).to.have.length(markets.length)
  })

  it('renews for the least that an open socket has asked for', async () => {
    const keeper = aKeeper()
    const seconds = () => written('renew_lease').map((each) => bodyOf(each).seconds)
    const long = await hold(keeper, 60)
    const short = await hold(keeper, 20)
    short.leave()
    await pass(keeper, 10)
    expect(seconds()).to.deep.equal([20, 20, 60, 60])
    expect(long.seconds()).to.equal(60)
    // One that could not be answered asks for nothing any more.
    answer = () => refused
    expect(await keeper.hold({ owner, seconds: 10, markets, onEnded: ignore })).to.equal(undefined)
    answer = working
    await pass(keeper, 30)
    expect(seconds()).to.deep.equal([20, 20, 60, 60, 10, 10, 60, 60])
  })

  it('takes what was not answered for written where it is longer', async () => {
    const keeper = aKeeper()
    await hold(keeper, 60)
    const short = await hold(keeper, 20)
    short.leave()
    answer = () => refused
    await pass(keeper, 10)
    answer = working
    await hold(keeper, 20)
    expect(written('renew_lease').map((each) => bodyOf(each).seconds)).to.deep.equal([
      ...[20, 20, 60, 60, 20, 20],
    ])
  })

  it('is held by no socket before every market has written as short a lease', async () => {
    const keeper = aKeeper()
    await hold(keeper, 30)
    let held = 0
    const holding = (seconds: number) => hold(keeper, seconds).then(() => (held += 1))
    answer = () => undefined
    // A renewal for the longer time is on its way.
    const renewing = pass(keeper, 15)
    const parts = [holding(10), holding(10)]
    await renewing
    expect(written('renew_lease').map((each) => bodyOf(each).seconds)).to.deep.equal([30, 30])
    for (const { reply } of unanswered.splice(0)) reply()
    await answered()
    expect(held).to.equal(0)
    unanswered.find(({ market }) => market === 'M')?.reply()
    await answered()
    // Who asks for as long as the others are to have has to wait as well.
    parts.push(holding(10))
    await answered()
    expect(held).to.equal(0)
    unanswered.find(({ market }) => market === 'N')?.reply()
    await Promise.all(parts)
    expect(written('renew_lease').map((each) => bodyOf(each).seconds)).to.deep.equal([
      ...[30, 30, 10, 10],
    ])
  })

  it('renews again only where a market did not answer', async () => {
    const keeper = aKeeper()
    await hold(keeper)
    answer = (request) => (request.market === 'M' ? refused : working(request))
    await pass(keeper, 15)
    await pass(keeper, 0.5)
    answer = working
    await pass(keeper, 0.5)
    await pass(keeper, 0.5)
    expect(written('renew_lease').map(({ market }) => market)).to.deep.equal(['M', 'N', 'M', 'M'])
    await pass(keeper, 14)
    expect(
      written('renew_lease')
        .slice(4)
        .map(({ market }) => market),
    ).to.deep.equal(['N'])
  })

  it('ends a lease again that a market may have opened after it was given up', async () => {
    const keeper = aKeeper()
    answer = ({ market }) => (market === 'M' ? undefined : refused)
    const holding = keeper.hold({ owner, seconds: 30, markets, onEnded: ignore })
    await answered()
    const stopped = keeper.stop()
    answer = working
    for (const { reply } of unanswered) reply()
    await stopped
    expect(await holding).to.equal(undefined)
    await answered()
    const ends = idsOf('end_lease').map(([market]) => market)
    expect(ends.filter((market) => market === 'M').length).to.equal(2)
  })

  it('of each worker writes a lease of its own, which ends alone', async () => {
    const left = aKeeper()
    const right = aKeeper()
    const parts = await Promise.all([left, left, right, right].map((keeper) => hold(keeper)))
    expect(new Set(parts.map(({ leaseId }) => leaseId.slice(0, 32))).size).to.equal(2)
    expect(written('open_lease')).to.have.length(2 * markets.length)
    const onRight = anOrder({ owner, leaseId: parts[2]?.leaseId ?? '' })
    for (const keeper of [left, right]) keeper.onPlaced('M', onRight)
    parts[0]?.leave()
    parts[1]?.leave()
    await eventually(() => written('end_lease').length === markets.length)
    const lease = parts[0]?.leaseId.slice(0, 32)
    expect(idsOf('end_lease')).to.deep.equal(markets.map((market) => [market, lease]))
  })

  it('tells every socket when the lease has ended, begins another one, and bounds the owners', async () => {
    const keeper = aKeeper(1)
    let ended = 0
    const onEnded = () => void (ended += 1)
    await hold(keeper, 30, owner, onEnded)
    expect(await keeper.hold({ owner: other, seconds: 30, markets, onEnded: ignore })).to.equal(
      undefined,
    )
    const code = 'lease_ended'
    answer = (request) =>
      request.kind === 'renew_lease'
        ? { kind: 'refused', refusal: { code, status: 409, message: 'it has ended' } }
        : working(request)
    const shorter = { owner, seconds: 10, markets, onEnded }
    expect(await keeper.hold(shorter)).to.equal(undefined)
    expect(ended).to.equal(2)
    answer = working
    await hold(keeper, 30, other)
  })
})
