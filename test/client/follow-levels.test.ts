import { expect } from 'chai'
import { WebSocket } from 'ws'
import { createSocketClient, followLevels, type SocketClient } from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import { startRig, type FanOutRig } from '../support/fan-out-rig.js'
import { busyHistory } from '../support/random-history.js'

const MARKET = 'cNGN-USDC'
const timing = { minBackoffMs: 5, maxBackoffMs: 20, pingEveryMs: 1_000 }
const changes = busyHistory(40)

type Follow = SocketClient['subscribe']

describe('following levels', () => {
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

  it('keeps several depths through restarts, and fits every checksum', async () => {
    const { port } = rig.fanOut()
    const bests = new Map<number, string[]>()
    const mismatches: number[] = []
    for (const depth of [10, 25] as const) {
      followLevels(client, MARKET, {
        depth,
        onChange: (levels) =>
          bests.set(
            depth,
            levels.levels('sell').map(({ price }) => price),
          ),
        onMismatch: () => mismatches.push(depth),
      })
    }
    for (let at = 0; at < changes.length; at += 100) {
      await rig.publish(changes.slice(at, at + 100))
      await rig.restart({ port, ringChanges: at === 0 ? 8 : 1_024 })
    }
    await eventually(() => {
      expect(bests.get(10)?.[0]).to.equal('0.009961')
      expect(bests.get(10)).to.have.length(10)
      expect(bests.get(25)).to.have.length(20)
    })
    expect(mismatches).to.deep.equal([])
  })

  it('begins again with a snapshot when a frame does not fit its checksum', async () => {
    // Loses the update after which a part of a level is left, so that the next one does not fit.
    const lost = 4
    let [subscriptions, updates] = [0, 0]
    const lossy: Follow = (channel, market, handler, options) => {
      subscriptions += 1
      return client.subscribe(
        channel,
        market,
        {
          onSnapshot: (data, seq) => handler.onSnapshot(data, seq),
          onUpdate(data, seq) {
            updates += 1
            if (updates !== lost) handler.onUpdate(data, seq)
          },
        },
        options,
      )
    }
    let mismatches = 0
    let [best, shown]: [string | undefined, number] = [undefined, 0]
    const stop = followLevels({ subscribe: lossy }, MARKET, {
      onChange: (levels) => ([best, shown] = [levels.levels('sell')[0]?.price, shown + 1]),
      onMismatch: () => (mismatches += 1),
    })
    await eventually(() => shown === 1)
    // One by one, so that no two of them share an update.
    for (const [index, [from, to]] of [
      [0, 1],
      [1, 5],
      [5, 6],
      [6, 10],
      [10, 11],
    ].entries()) {
      await rig.publish(changes.slice(from, to), 10)
      await eventually(() => updates === index + 1)
    }
    await eventually(() => {
      expect(mismatches).to.equal(1)
      expect(subscriptions).to.equal(2)
      expect(best).to.equal('0.009998')
    })
    stop()
  })

  it('tells why the venue refuses', async () => {
    const refused: string[] = []
    followLevels(client, 'cNGN-GOLD', {
      onChange: () => undefined,
      onRefused: (code) => refused.push(code),
    })
    await eventually(() => expect(refused).to.deep.equal(['unknown_market']))
  })

  it('follows the other channels of market data by their intervals', async () => {
    const shown: string[] = []
    const handler = (name: string) => ({
      onSnapshot: () => void shown.push(name),
      onUpdate: () => undefined,
    })
    client.subscribe('candles', MARKET, handler('1m'), { interval: '1m' })
    client.subscribe('candles', MARKET, handler('1h'))
    client.subscribe('ticker', MARKET, handler('ticker'))
    client.subscribe('status', MARKET, handler('status'))
    await eventually(() => expect(shown).to.have.members(['1m', '1h', 'ticker', 'status']))
    expect(() => client.subscribe('candles', MARKET, handler('1h'), { interval: '1h' })).to.throw(
      /followed already/,
    )
  })
})
