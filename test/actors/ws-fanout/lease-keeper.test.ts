import { expect } from 'chai'
import { createLeaseKeeper, type LeaseKeeper } from '../../../actors/ws-fanout/lease-keeper.js'
import {
  decodeCancelsRequest,
  encodeCancelsAnswer,
  type CancelsAnswer,
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

/** One lease for an owner in each market, however many sockets of the owner ask for one. */
describe('the keeper of leases', function () {
  let bus: MemoryBus
  let keepers: LeaseKeeper[]
  let asked: CancelsRequest[]
  let answer: (request: CancelsRequest) => CancelsAnswer | undefined

  beforeEach(async () => {
    bus = createMemoryBus()
    keepers = []
    asked = []
    answer = ({ kind }) =>
      kind === 'end_lease'
        ? { kind: 'cancels', feed_seq: 1, outcomes: [], left: 0 }
        : { kind: 'lease', ends_at_ms: 1 }
    await bus.answer(askCancels, 'order-intake', (data, replyTo) => {
      const request = decodeCancelsRequest(data)
      asked.push(request)
      const given = answer(request)
      if (given !== undefined) bus.reply(replyTo, encodeCancelsAnswer(given))
    })
  })
  afterEach(() => Promise.all(keepers.map((keeper) => keeper.stop())))

  const aKeeper = (maxLeases = 10): LeaseKeeper => {
    const keeper = createLeaseKeeper({ bus, log: silentLog, maxLeases })
    keepers.push(keeper)
    return keeper
  }
  const hold = async (keeper: LeaseKeeper, seconds = 30, of = owner, onEnded = () => undefined) => {
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
    const begun = performance.now()
    await eventually(() => written('renew_lease').length >= 2 * markets.length, 30_000)
    expect(performance.now() - begun).to.be.within(9_000, 20_000)
    expect(asked).to.have.length(3 * markets.length)
    // Sockets that have placed nothing leave nothing to write.
    for (const part of parts.slice(1)) part.leave()
    expect(written('end_lease')).to.deep.equal([])
    parts[0]?.leave()
    await eventually(() => written('end_lease').length === markets.length)
    expect(idsOf('end_lease')).to.deep.equal(markets.map((market) => [market, lease]))
  })

  it('ends the orders of a socket with it, those on their way too, and no others', async () => {
    const keeper = aKeeper()
    const [first, second] = [await hold(keeper), await hold(keeper)]
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
    const working = answer
    answer = (request) =>
      written('end_lease').length < 2
        ? { kind: 'refused', refusal: refusals.cancelTarget }
        : working(request)
    first.leave()
    await eventually(() => written('end_lease').length === 2)
    expect(idsOf('end_lease')).to.deep.equal([1, 2].map(() => ['M', first.leaseId]))
  })

  it('shortens the lease for a socket that asks for less, and never lengthens it', async () => {
    const keeper = aKeeper()
    const first = await hold(keeper, 60)
    const second = await hold(keeper, 20)
    const third = await hold(keeper, 86_400)
    expect([first, second, third].map((part) => part.seconds())).to.deep.equal([20, 20, 20])
    expect(written('renew_lease').map((each) => bodyOf(each).seconds)).to.deep.equal([20, 20])
    expect(written('open_lease')).to.have.length(markets.length)
    answer = () => ({ kind: 'refused', refusal: refusals.cancelTarget })
    const refused = await keeper.hold({ owner, seconds: 10, markets, onEnded: () => undefined })
    expect(refused).to.equal(undefined)
  })

  it('of each worker writes a lease of its own, which ends alone', async () => {
    const [left, right] = [aKeeper(), aKeeper()]
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
    expect(
      await keeper.hold({ owner: other, seconds: 30, markets, onEnded: () => undefined }),
    ).to.equal(undefined)
    const code = 'lease_ended'
    const working = answer
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
