import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createExecutors } from '../../../actors/matcher/executors.js'
import { askFaultsAt, UNABLE_AFTER_MS } from '../../../actors/matcher/faults.js'
import { commandsStream } from '../../../bus-schemas/subjects.js'
import type { Command } from '../../../core/model/command.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { freePort } from '../../support/free-port.js'
import { decodeCommands } from '../../support/spot-log.js'
import {
  appendCommands,
  changesOf,
  neverDecides,
  placeOrder,
  stageMarket,
  startOn,
  type StartedMatcher,
} from './stage.js'

describe('asking the executor for faults', () => {
  let server: Server
  let answer: { status: number; text: string }
  let asked: string[]

  before((done) => {
    server = createServer((request, response) => {
      asked.push(`${request.url ?? ''} ${request.headers.authorization ?? ''}`)
      response.writeHead(answer.status).end(answer.text)
    })
    server.listen(0, '127.0.0.1', done)
  })
  after((done) => void server.close(done))
  beforeEach(() => (asked = []))

  function ask() {
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const { signal } = new AbortController()
    return askFaultsAt({ executors: createExecutors([url]), secret: 'word', timeoutMs: 1_000 })(
      signal,
    )
  }

  it('reads them by market, with the secret', async () => {
    answer = { status: 200, text: '{"faults":{"cNGN-USDC":"M_OnlyTradeExecutor"}}' }
    expect(await ask()).to.deep.equal({ 'cNGN-USDC': 'M_OnlyTradeExecutor' })
    expect(asked).to.deep.equal(['/faults Bearer word'])
  })

  it('asks the next executor when the one in use refuses the connection, and uses it from then on', async () => {
    answer = { status: 200, text: '{"faults":{}}' }
    const { port } = server.address() as AddressInfo
    const standby = `http://127.0.0.1:${await freePort()}`
    const leading = `http://127.0.0.1:${port}`
    const executors = createExecutors([standby, leading])
    const left: string[] = []
    executors.onLeft((url) => left.push(url))
    const askAny = askFaultsAt({ executors, secret: 'word', timeoutMs: 1_000 })
    for (let times = 0; times < 2; times += 1) {
      expect(await askAny(new AbortController().signal)).to.deep.equal({})
    }
    expect(executors.inOrder()).to.deep.equal([leading, standby])
    expect(left).to.deep.equal([standby])
  })

  it('knows nothing when the executor does not know, or answers something else', async () => {
    for (const other of [
      { status: 503, text: '{"error":"the chain does not answer"}' },
      { status: 200, text: '{}' },
      { status: 200, text: '{"faults":{"cNGN-USDC":"a text"}}' },
      { status: 200, text: 'no JSON' },
    ]) {
      answer = other
      expect(await ask()).to.equal(undefined)
    }
  })
})

describe('a leader that follows what the executor reads of faults', () => {
  const { market } = stageMarket
  let bus: MemoryBus
  let found: Readonly<Record<string, string>> | undefined
  let asked: number
  /** Time that has passed without waiting for it. */
  let skippedMs: number
  let started: StartedMatcher
  const running: StartedMatcher[] = []

  beforeEach(() => {
    bus = createMemoryBus()
    found = undefined
    asked = 0
    skippedMs = 0
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ matcher }) => matcher.stop()))
  })

  async function start(ask = neverDecides, askFaults = () => Promise.resolve(found)) {
    started = await startOn(bus, {
      ask,
      elapsedMs: () => performance.now() + skippedMs,
      faults: {
        everyMs: 5,
        ask: () => {
          asked += 1
          return askFaults()
        },
      },
    })
    running.push(started)
  }
  const detail = () => started.matcher.standing().detail
  const heldFor = () => started.matcher.holds().get('chain')?.reason
  async function observed(): Promise<Command[]> {
    const messages = await bus.read(commandsStream(market), 1, 10_000)
    return messages
      .flatMap(({ data }) => decodeCommands(data))
      .map(({ command }) => command)
      .filter(({ kind }) => kind === 'ChainFaultObserved')
  }
  /** Resolves when the executor has been asked several times more. */
  async function untilAskedAgain(): Promise<void> {
    const before = asked
    await eventually(() => asked > before + 3)
  }

  for (const [how, silence] of [
    ['takes nothing', { [market]: 'settlement_unavailable' }],
    ['does not answer', undefined],
  ] as const) {
    it(`holds the market once the executor ${how} for a while, and goes on when it settles again (SET-041)`, async () => {
      found = {}
      await start()
      await untilAskedAgain()
      found = silence
      await untilAskedAgain()
      // A restart of the executor holds nothing.
      expect(heldFor()).to.equal(undefined)
      skippedMs = UNABLE_AFTER_MS
      await eventually(() => heldFor() === 'settlement_unavailable')
      expect(detail()).to.equal('held: the executor takes no match, settlement_unavailable')
      await untilAskedAgain()
      // Another fault comes first, once the executor answers, and its end alone lifts nothing.
      found = { [market]: 'M_OnlyTradeExecutor' }
      await eventually(() => heldFor() === 'M_OnlyTradeExecutor')
      found = silence
      await untilAskedAgain()
      skippedMs += UNABLE_AFTER_MS
      await eventually(() => heldFor() === 'settlement_unavailable')
      found = {}
      await eventually(() => heldFor() === undefined)
    })
  }

  it('keeps what is matched pending while the executor takes nothing; the rest rests and is cancelled (SET-041)', async () => {
    found = {}
    await start()
    await appendCommands(bus, [
      placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n, nonce: 901n }),
      placeOrder({ orderId: 't', side: 'buy', nonce: 902n, desiredAmount: 4n as never }),
    ])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(3))
    found = { [market]: 'settlement_unavailable' }
    await untilAskedAgain()
    skippedMs = UNABLE_AFTER_MS
    await eventually(() => heldFor() === 'settlement_unavailable')
    const later = placeOrder({ orderId: 'l', side: 'buy', nonce: 903n })
    await appendCommands(bus, [later])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(4))
    const { owner, nonce } = (later as Extract<Command, { kind: 'PlaceOrder' }>).order
    await appendCommands(bus, [{ kind: 'CancelOrder', owner, nonce, reason: 'test' }])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(5))
    const kinds = (await changesOf(bus)).map(({ kind }) => kind)
    expect(kinds.slice(3)).to.deep.equal(['OrderPlaced', 'OrderCancelled'])
    const { positions } = started.matcher.standing()
    expect(positions).to.include({ pending_settlements: 1 })
  })

  it('holds the market for one, says so, and goes on when it has passed', async () => {
    await start()
    found = { [market]: 'M_OnlyTradeExecutor' }
    await eventually(() => heldFor() === 'M_OnlyTradeExecutor')
    expect(detail()).to.equal('held: the chain refuses every match, M_OnlyTradeExecutor')
    expect(started.matcher.standing().ready).to.equal(false)
    await untilAskedAgain()
    found = {}
    await eventually(() => heldFor() === undefined)
    await eventually(() => detail() === 'live')
    await untilAskedAgain()
    expect(await observed()).to.deep.equal([
      { kind: 'ChainFaultObserved', revert: 'M_OnlyTradeExecutor' },
      { kind: 'ChainFaultObserved' },
    ])
  })

  it('leaves the market as it is while the executor does not know, or tells of another one', async () => {
    await start()
    found = { [market]: 'M_OnlyTradeExecutor' }
    await eventually(() => heldFor() !== undefined)
    found = undefined
    await untilAskedAgain()
    expect(heldFor()).to.equal('M_OnlyTradeExecutor')
    found = { [market]: 'M_OnlyTradeExecutor', other: 'M_Other' }
    await untilAskedAgain()
    expect(await observed()).to.have.length(1)
  })

  it('goes on after a restart where the one before stopped', async () => {
    found = { [market]: 'M_OnlyTradeExecutor' }
    await start()
    await eventually(() => heldFor() !== undefined)
    await started.matcher.stop()
    await start()
    await untilAskedAgain()
    expect(await observed()).to.have.length(1)
    found = { [market]: 'M_Other' }
    await eventually(() => heldFor() === 'M_Other')
  })

  it('lets a hold that a settlement set run to its end', async () => {
    const answer = { kind: 'reverted', revert: 'M_Paused', guilty: 'venue' } as const
    await start(() => Promise.resolve(answer))
    await appendCommands(bus, [
      placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      placeOrder({ orderId: 't', side: 'buy' }),
    ])
    await eventually(() => heldFor() === 'M_Paused')
    found = {}
    await untilAskedAgain()
    expect(heldFor()).to.equal('M_Paused')
    expect(await observed()).to.deep.equal([])
  })

  it('stops when asking fails, and says nothing of it once it is stopped', async () => {
    const lost = new Error('defect')
    await start(neverDecides, () => Promise.reject(lost))
    await eventually(() => expect(started.fatal).to.deep.equal([lost]))
    const again = createMemoryBus()
    bus = again
    await start()
    await untilAskedAgain()
    await started.matcher.stop()
    const before = asked
    await new Promise((resolve) => setImmediate(resolve))
    expect([asked, started.fatal]).to.deep.equal([before, []])
  })
})
