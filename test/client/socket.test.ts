import { expect } from 'chai'
import { WebSocket } from 'ws'
import { createSeenSeqs, createSocketClient, type SocketClient } from '../../client/index.js'
import { formatDecimal } from '../../core/decimal.js'
import { applyChange, emptyView, openOrders } from '../../core/engine/feed.js'
import { eventually } from '../support/eventually.js'
import { startRig, type FanOutRig } from '../support/fan-out-rig.js'
import { busyHistory } from '../support/random-history.js'
import { followBook } from './follow-book.js'

const MARKET = 'cNGN-USDC'
const timing = { minBackoffMs: 5, maxBackoffMs: 20, pingEveryMs: 1_000 }

describe('socket client', () => {
  let rig: FanOutRig
  let client: SocketClient
  beforeEach(async () => {
    rig = await startRig()
    client = createSocketClient({ url: rig.url(), WebSocket, timing })
  })
  afterEach(async () => {
    client.close()
    await rig.end()
  })

  it("keeps a book equal to the venue's through restarts, each change applied once", async () => {
    const { port } = rig.fanOut()
    const changes = busyHistory(100)
    await rig.publish(changes.slice(0, 50))
    const { book, snapshots, updates } = followBook(client, MARKET)
    const trades: number[] = []
    client.subscribe('trades', MARKET, {
      onSnapshot: (_, seq) => trades.push(seq),
      onUpdate: (_, seq) => trades.push(seq),
    })
    await eventually(() => snapshots.length === 1 && trades.length === 1)
    for (let at = 50; at < changes.length; at += 50) {
      const publishing = rig.publish(changes.slice(at, at + 50))
      await rig.restart({ port, ringChanges: at % 100 === 0 ? 8 : 1_024 })
      await publishing
    }
    await eventually(() => book.seq() === changes.length && trades.at(-1) === changes.length)

    expect(client.connections()).to.be.above(1)
    const view = emptyView(rig.market)
    for (const change of changes) applyChange(view, change)
    const open = [...openOrders(view)].map(({ order, progress }): [string, string] => [
      order.orderId,
      formatDecimal(progress.open, 18),
    ])
    expect(book.openAmounts()).to.deep.equal(new Map(open))
    const seqs = changes.map(({ seq }) => seq)
    expect(snapshots).to.deep.equal([50])
    expect(updates).to.deep.equal(seqs.slice(50))
    expect(trades).to.deep.equal([50, ...seqs.slice(50).filter((seq) => seq % 5 === 0)])
  })

  it('notes for reads over REST what its frames have shown', async () => {
    const seen = createSeenSeqs()
    const other = createSocketClient({ url: rig.url(), WebSocket, timing, seen })
    try {
      const changes = busyHistory(20)
      await rig.publish(changes.slice(0, 50))
      const { snapshots, updates } = followBook(other, MARKET)
      await eventually(() => snapshots.length === 1)
      expect(seen.minSeq()).to.equal(`${MARKET}=50`)
      await rig.publish(changes.slice(50, 60))
      await eventually(() => updates.at(-1) === 60)
      expect(seen.minSeq()).to.equal(`${MARKET}=60`)
    } finally {
      other.close()
    }
  })

  it('adds up levels, best first', async () => {
    await rig.publish(busyHistory(4))
    const { book } = followBook(client, MARKET)
    await eventually(() => book.seq() === 20)
    expect(book.levels('sell')).to.deep.equal([
      { price: '0.009997', size: '1' },
      { price: '0.009999', size: '1' },
    ])
    expect(book.levels('buy')).to.deep.equal([])
  })

  it('follows a market by a deprecated name and stops when told', async () => {
    const { updates, snapshots, stop } = followBook(client, 'USDCcNGN-SPOT')
    await eventually(() => snapshots.length === 1)
    await rig.publish(busyHistory(1))
    await eventually(() => updates.length === 5)
    stop()
    const again = followBook(client, 'USDCcNGN-SPOT')
    await eventually(() => again.snapshots.length === 1)
    expect(again.snapshots).to.deep.equal([5])
    expect(() => followBook(client, 'USDCcNGN-SPOT')).to.throw('followed already')
  })

  it('reports a refused subscription', async () => {
    const refusals: string[] = []
    client.subscribe('book', 'NOPE', {
      onSnapshot: () => undefined,
      onUpdate: () => undefined,
      onRefused: (code) => refusals.push(code),
    })
    await eventually(() => refusals.length > 0)
    expect(refusals).to.deep.equal(['unknown_market'])
  })
})
