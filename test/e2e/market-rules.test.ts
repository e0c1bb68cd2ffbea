import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { createRestClient, signFrame, VenueRefused } from '../../client/index.js'
import { historyPath } from '../../data/history/project.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { runAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { listen, subscribe } from './black-box/socket.js'
import { createTrader, SPOT, type Trader } from './stage/trader.js'

type Row = Readonly<Record<string, unknown>>

/** A second market on the same contracts: USDC against cNGN. */
const OTHER = 'USDC-cNGN'
/** The processes that open the read model. */
const READERS = ['gateway', 'projector'] as const

describe('the rules of a live market', function () {
  let venue: TestVenue
  let [ann, bob]: Trader[] = []

  const market = async (...words: string[]) => {
    const child = spawn('./venue', ['market', ...words], {
      cwd: inProject('.'),
      env: { PATH: process.env.PATH, DATA_DIR: venue.dataDir },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, output: output.trim() }
  }
  const rows = async (): Promise<Row[]> =>
    JSON.parse(await readFile(join(venue.dataDir, 'markets.json'), 'utf8')) as Row[]
  const rest = () => createRestClient(venue.gatewayUrl)
  const listed = async (name: string) => (await rest().markets()).find((it) => it.market === name)

  const frameOf = (name: number) => {
    const { auth_domain: domain, accounts } = venue.devnet
    const account = privateKeyToAccount(accounts[name]!.private_key)
    return signFrame(account, { purpose: 'history', domain })
  }
  /** One fill of so much at this price, maker ann; resolves with the taker's fee. */
  async function trade(
    amount: string,
    price: string,
    takerSide: 'buy' | 'sell' = 'buy',
  ): Promise<string | undefined> {
    const makerSide = takerSide === 'buy' ? 'sell' : 'buy'
    const maker = await ann!.place({ side: makerSide, amount, price })
    const taker = await bob!.place({ side: takerSide, amount, price })
    await bob!.until(taker.order_id, 'filled')
    await ann!.until(maker.order_id, 'filled')
    const { fills } = await rest().fills(await frameOf(1), { limit: 100 })
    return fills.find(({ order_id: id }) => id === taker.order_id)?.fee
  }
  /** What the gateway reads of the market and its traders, with the candles that begin before `end`. */
  async function answers(end: string) {
    const owned = async (name: number) => {
      const frame = await frameOf(name)
      const { orders } = await rest().orderHistory(frame, { limit: 100 })
      const { fills } = await rest().fills(frame, { limit: 100 })
      return { orders, fills }
    }
    return {
      book: await rest().book(SPOT),
      trades: (await rest().trades(SPOT, { limit: 100 })).trades,
      candles: (await rest().candles(SPOT, '1m', { end })).candles,
      owned: await Promise.all([0, 1].map(owned)),
    }
  }
  /** A client that was away while the market was paused is told so, and then follows. */
  async function expectPausedSince(seq: number): Promise<void> {
    const back = await listen(venue.devnet, subscribe('status', SPOT, { since_seq: seq }))
    const { data } = await back.next(({ type }) => type === 'snapshot')
    expect(back.frames.map(({ code, type }) => code ?? type)).to.deep.equal([
      'resume_too_old',
      'snapshot',
    ])
    expect(data).to.include({ trading_status: 'paused', trading_status_reason: 'maintenance' })
    back.close()
  }
  const refusalOf = async (placing: Promise<unknown>): Promise<string> => {
    const error: unknown = await placing.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return error instanceof VenueRefused ? error.code : String(error)
  }

  before(async function () {
    venue = await startVenue({ blockTime: 1 })
    ;[ann, bob] = [0, 1].map((name) => createTrader(venue.devnet, name)) as [Trader, Trader]
  })
  after(async function () {
    await venue.stop()
  })

  it('a fee changes between trades of both sides, in the log and the reads', async () => {
    // 25 and 30 basis points of 0.7 USDC.
    expect(await trade('1000', '0.0007')).to.equal('0.00175')
    expect(await trade('1000', '0.0007', 'sell')).to.equal('0.00175')
    const { code, output } = await market(
      'set',
      SPOT,
      'taker_fee_bps=30',
      '--reason',
      'tariff of May',
    )
    expect(code, output).to.equal(0)
    expect(output).to.include(`${SPOT}: enabled, open, taker_fee_bps=30`)
    await eventually(async () => (await listed(SPOT))?.taker_fee_bps === 30)
    expect(await trade('1000', '0.0007')).to.equal('0.0021')
    expect(await trade('1000', '0.0007', 'sell')).to.equal('0.0021')
  })

  it('a wrong order is refused in one line', async () => {
    for (const [words, line] of [
      [['set', SPOT, 'ordinal=3'], 'ordinal cannot be set'],
      [['set', SPOT, 'taker_fee_bps=x'], 'taker_fee_bps must be a whole number'],
      [['resume', SPOT], `${SPOT} is not paused`],
      [['pause', 'NOPE'], 'no such market: NOPE'],
    ] as const) {
      const { code, output } = await market(...words)
      expect(code, output).to.equal(1)
      expect(output.split('\n')).to.have.length(1)
      expect(output).to.include(line)
    }
  })

  it('a market is added, paused, disabled and enabled while another trades (OPE-009)', async () => {
    const [spot] = await rows()
    const file = join(venue.dataDir, 'added.json')
    const row: Row = {
      ...spot,
      market: OTHER,
      ordinal: 9,
      aliases: [],
      asset: 'wrapped_usdc',
      quote_asset: 'wrapped_cngn',
      order_entry: undefined,
      // The futures manager counts cNGN as base and USDC as quote.
      margin_manager: 'earlier_spot_manager',
    }
    await writeFile(file, JSON.stringify([row]))
    const added = await market('add', file)
    expect(added.output).to.include(`${OTHER}: enabled, open`)
    await eventually(async () => (await listed(OTHER)) !== undefined, 20_000)
    await eventually(async () => (await fetch(`${venue.gatewayUrl}/readyz`)).ok, 20_000)

    const before = await listen(venue.devnet, subscribe('status', SPOT))
    const { seq, data } = await before.next(({ type }) => type === 'snapshot')
    expect(data.trading_status).to.equal('open')
    before.close()
    expect((await market('pause', SPOT, '--reason', 'maintenance')).code).to.equal(0)
    await eventually(async () => (await listed(SPOT))?.trading_status === 'paused')
    await expectPausedSince(seq)
    const ready = (await (await fetch(`${venue.gatewayUrl}/readyz`)).json()) as { markets?: Row }
    expect(ready.markets).to.deep.equal({
      [SPOT]: { trading_status: 'paused', trading_status_reason: 'maintenance' },
    })
    const wish = { side: 'sell', amount: '1000', price: '0.0007' } as const
    await eventually(async () => (await refusalOf(ann!.place(wish))) === 'trading_paused')
    expect((await market('resume', SPOT)).code).to.equal(0)

    expect((await market('disable', OTHER)).output).to.include(`${OTHER}: disabled`)
    await eventually(async () => (await listed(OTHER)) === undefined)
    await eventually(async () => (await listed(SPOT))?.trading_status === 'open')
    await eventually(async () => (await refusalOf(trade('1000', '0.0007'))) === 'undefined')
    expect((await market('enable', OTHER)).output).to.include(`${OTHER}: enabled`)
    await eventually(async () => (await listed(OTHER)) !== undefined)
  })

  it('a disabled market cancels what rests, and its history stays readable (OPE-008)', async () => {
    const resting = await ann!.place({ side: 'sell', amount: '500', price: '0.0009' })
    expect((await market('disable', SPOT)).code).to.equal(0)
    const cancelled = await ann!.until(resting.order_id, 'cancelled')
    expect(cancelled.cancel_reason).to.equal('market_disabled')
    expect((await rest().trades(SPOT, { limit: 100 })).trades).to.have.length.above(2)
    expect((await market('enable', SPOT)).code).to.equal(0)
    await eventually(async () => (await listed(SPOT)) !== undefined)
  })

  it('the audit finds nothing, and a restart replays every change', async () => {
    for (const process of ['matcher-cngn-usdc', 'order-intake', 'projector', 'ws-fanout'])
      await venue.restartWorker(process)
    await venue.untilReady()
    expect((await listed(SPOT))?.taker_fee_bps).to.equal(30)
    const { code, output } = await runAudit({ PATH: process.env.PATH, DATA_DIR: venue.dataDir })
    expect(code, output).to.equal(0)
  })

  it('an edit of the market file changes nothing (OPE-041)', async () => {
    const edited = (await rows()).map((row) => ({ ...row, taker_fee_bps: 20, enabled: false }))
    await writeFile(join(venue.dataDir, 'markets.json'), JSON.stringify(edited))
    for (const process of ['matcher-cngn-usdc', 'order-intake', 'gateway', 'executor'])
      await venue.restartWorker(process)
    await venue.untilReady()
    await eventually(async () => (await refusalOf(trade('1000', '0.0007'))) === 'undefined', 20_000)
    expect(await listed(SPOT)).to.include({ taker_fee_bps: 30 })
    expect((await listed(OTHER))?.market).to.equal(OTHER)
  })

  it('the texts of a market are replaced without a restart (OPE-040)', async () => {
    const [spot] = await rows()
    const file = join(venue.dataDir, 'texts.json')
    const presentation = { ...(spot?.presentation as Row), display_label: 'naira per dollar' }
    await writeFile(file, JSON.stringify([{ ...spot, presentation }]))
    const { code, output } = await market('add', file, '--reason', 'wording')
    expect(code, output).to.equal(0)
    await eventually(async () => (await listed(SPOT))?.display_label === 'naira per dollar')
    expect(await listed(SPOT)).to.include({ taker_fee_bps: 30 })
  })

  it('every read model is rebuilt from the log (OPE-011)', async () => {
    const resting = await ann!.place({ side: 'sell', amount: '500', price: '0.0009' })
    await ann!.until(resting.order_id, 'active')
    const end = new Date().toISOString()
    const before = await answers(end)
    expect(before.book.asks.map(({ order_id: id }) => id)).to.include(resting.order_id)
    expect(before.trades).to.have.length.above(2)
    expect(before.candles).to.have.length.above(0)
    expect(before.owned.map(({ fills }) => fills.length > 2)).to.deep.equal([true, true])

    // Both have the file open; stopped, neither writes to the new one before it is killed.
    for (const worker of READERS) await venue.kill(worker, 'SIGSTOP')
    for (const suffix of ['', '-wal', '-shm'])
      await rm(`${historyPath(venue.dataDir)}${suffix}`, { force: true })
    await Promise.all(READERS.map((worker) => venue.restartWorker(worker, 'SIGKILL')))
    await eventually(async () => expect(await answers(end)).to.deep.equal(before), 20_000)
  })
})
