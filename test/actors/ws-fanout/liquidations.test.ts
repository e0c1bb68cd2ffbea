import { expect } from 'chai'
import { KEPT_UPDATES } from '../../../actors/ws-fanout/liquidations-channel.js'
import { encodeLiquidations } from '../../../bus-schemas/liquidations.js'
import { liquidationsStream, liquidationsSubject } from '../../../bus-schemas/subjects.js'
import type { Liquidation, LiquidationPlace } from '../../../core/contracts/liquidation.js'
import {
  MAX_SNAPSHOT_LIQUIDATIONS,
  type LiquidationRecord,
} from '../../../interface/liquidation.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { aMarket } from '../../support/builders.js'
import { declareFeed, startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import { aLiquidation } from '../../support/liquidations.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import type { Frame, SocketClient } from '../../support/socket-client.js'

const STREAM = {
  stream: liquidationsStream,
  subject: liquidationsSubject,
  description: 'liquidations',
}

const subscribe = { op: 'subscribe', channel: 'liquidations' }
const of = (type: string) => (frame: Frame) =>
  frame.channel === 'liquidations' && frame.type === type
const blocksOf = ({ data }: Frame) =>
  (data as LiquidationRecord[]).map((one) => (one.reversed === true ? -1 : 1) * one.block_number)

/** What a client holds that applies all that it gets, newest first. */
function clientState() {
  const held = new Map<string, LiquidationRecord>()
  let at = 0
  const idOf = ({ market, tx_hash, log_index }: LiquidationRecord) =>
    [market, tx_hash, log_index].join(' ')
  return {
    seq: () => at,
    take(frame: Frame): void {
      const records = frame.data as LiquidationRecord[]
      if (frame.type === 'snapshot') held.clear()
      else expect(frame.prev_seq, 'no gap and no double').to.equal(at)
      for (const one of records)
        if (one.reversed === true) expect(held.delete(idOf(one))).to.equal(true)
        else {
          expect(held.has(idOf(one)), 'no double').to.equal(false)
          held.set(idOf(one), one)
        }
      at = frame.seq as number
    },
    blocks: () =>
      [...held.values()].map(({ block_number }) => block_number).toSorted((a, b) => b - a),
  }
}

/** A client whose frames are taken in order, each once. */
function inOrder(client: SocketClient) {
  let from = 0
  return {
    send: client.send.bind(client),
    leave: () => client.ws.terminate(),
    frames: client.frames,
    /** The next frame that suits; those before it are passed over. */
    async next(suits: (frame: Frame) => boolean = () => true): Promise<Frame> {
      const found = await client.next(suits, from)
      from = client.frames.indexOf(found, from) + 1
      return found
    },
  }
}
type Client = ReturnType<typeof inOrder>
type State = ReturnType<typeof clientState>

interface Stage {
  /** Undefined for that of the rig, in memory. */
  open(): Promise<Bus | undefined>
  close(): Promise<void>
}

function describeChannel(name: string, stage: Stage) {
  describe(`the channel liquidations, ${name}`, () => {
    let bus: Bus
    let rig: FanOutRig
    beforeEach(async () => {
      const own = await stage.open()
      if (own !== undefined) await declareFeed(own, aMarket().market)
      rig = await startRig(own === undefined ? {} : { bus: own })
      bus = own ?? rig.bus
    })
    afterEach(async () => {
      const { failures } = rig
      await rig.end()
      await stage.close()
      expect(failures).to.deep.equal([])
    })

    const connect = async (): Promise<Client> => inOrder(await rig.connect())
    const tell = async (
      added: readonly Liquidation[],
      takenBack: readonly LiquidationPlace[] = [],
    ) => bus.append(liquidationsSubject, encodeLiquidations({ added, takenBack }))
    const blocks = (...numbers: readonly number[]) =>
      numbers.map((block) => aLiquidation({ block }))

    async function started(client: Client): Promise<Frame> {
      client.send(subscribe)
      return client.next(of('snapshot'))
    }
    /** Applies what the client gets until it is as far; on a server a message reaches the fan-out a moment after it is stored. */
    async function follow(client: Client, state: State, seq: number): Promise<void> {
      while (state.seq() < seq)
        state.take(await client.next((frame) => of('update')(frame) || of('snapshot')(frame)))
    }
    async function untilFolded(seq: number): Promise<void> {
      const client = await connect()
      client.send(subscribe)
      await follow(client, clientState(), seq)
      client.leave()
    }

    it('is empty before anything was told, and then shows what is (STR-060)', async () => {
      const client = await connect()
      expect(await started(client)).to.deep.include({ seq: 0, data: [] })
      await bus.declareStream(STREAM)
      await tell(blocks(5, 6))
      const update = await client.next(of('update'))
      expect(update).to.deep.include({ seq: 1, prev_seq: 0 })
      expect(update).not.to.have.property('market')
      expect((update.data as LiquidationRecord[])[0]).to.deep.equal({
        market: 'cNGN-PERP',
        event: 'bid',
        subaccount_id: '7',
        size: '1000',
        price: '0.00065',
        portion: '0.5',
        by_subaccount_id: '9',
        paid: '3',
        received: '0',
        occurred_at: '2026-09-21T14:13:30.000Z',
        block_number: 5,
        log_index: 3,
        tx_hash: aLiquidation({ block: 5 }).txHash,
      })
    })

    it('takes back what the chain has lost, in frames and in the next snapshot (REA-058)', async () => {
      await bus.declareStream(STREAM)
      await tell(blocks(5, 6))
      await untilFolded(1)
      const client = await connect()
      expect(blocksOf(await started(client))).to.deep.equal([6, 5])
      await tell(blocks(8), blocks(6))
      expect(blocksOf(await client.next(of('update')))).to.deep.equal([-6, 8])
      const late = await connect()
      expect(blocksOf(await started(late))).to.deep.equal([8, 5])
    })

    it('is resumed without a gap or a double across restarts (STR-061)', async () => {
      await bus.declareStream(STREAM)
      await tell(blocks(1))
      const state = clientState()
      let client = await connect()
      client.send(subscribe)
      await follow(client, state, 1)
      let seq = 1
      for (let turn = 0; turn < 4; turn += 1) {
        const at = 10 * (turn + 1)
        seq = await tell(blocks(at))
        await follow(client, state, seq)
        client.leave()
        // Told while the client is away, before and after another process serves it.
        await tell(blocks(at + 1), blocks(at))
        if (turn % 2 === 0) await rig.restart()
        seq = await tell(blocks(at + 2))
        client = await connect()
        client.send({ ...subscribe, since_seq: state.seq() })
        await follow(client, state, seq)
        expect(client.frames.some(of('snapshot'))).to.equal(false)
      }
      const all = [1, ...[10, 20, 30, 40].flatMap((at) => [at + 1, at + 2])]
      expect(state.blocks()).to.deep.equal(all.toReversed())
      expect(blocksOf(await started(await connect()))).to.deep.equal(all.toReversed())
    })

    it('answers a position that it does not hold with a snapshot', async () => {
      await bus.declareStream(STREAM)
      await tell(blocks(1))
      await untilFolded(1)
      const client = await connect()
      client.send({ ...subscribe, since_seq: 99 })
      await client.next(({ code }) => code === 'resume_too_old')
      expect(await client.next(of('snapshot'))).to.include({ seq: 1 })
    })

    it('shows the newest alone, and resumes as far back as it keeps them (STR-061)', async () => {
      await bus.declareStream(STREAM)
      for (let no = 1; no <= KEPT_UPDATES + 5; no += 1) await tell(blocks(no))
      await rig.restart()
      const client = await connect()
      const snapshot = await started(client)
      expect(blocksOf(snapshot)).to.deep.equal(
        Array.from({ length: MAX_SNAPSHOT_LIQUIDATIONS }, (_, i) => KEPT_UPDATES + 5 - i),
      )
      const other = await connect()
      other.send({ ...subscribe, since_seq: 4 })
      await other.next(({ code }) => code === 'resume_too_old')
      const third = await connect()
      third.send({ ...subscribe, since_seq: 5 })
      expect(await third.next(of('update'))).to.include({ seq: 6, prev_seq: 5 })
    })

    it('reaches several clients, and ends where it is asked to', async () => {
      await bus.declareStream(STREAM)
      const one = await connect()
      const two = await connect()
      await started(one)
      await started(two)
      await tell(blocks(1))
      await one.next(of('update'))
      await two.next(of('update'))
      one.send({ op: 'unsubscribe', channel: 'liquidations', req_id: 'u' })
      await one.next(({ message }) => message === 'unsubscribed')
      await tell(blocks(2))
      await two.next(of('update'))
      one.send({ op: 'ping', req_id: 'p' })
      const after = await one.next()
      expect(after).to.include({ type: 'pong' })
    })
  })
}

describeChannel('on a bus in memory', {
  open: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
})

let server: TestNatsServer
let connected: Bus
describeChannel('on a server of the bus', {
  async open() {
    server = await startNatsServer()
    connected = await connectNatsBus({ url: server.url, name: 'liquidations' })
    return connected
  },
  async close() {
    await connected.close()
    await server.stop()
  },
})
