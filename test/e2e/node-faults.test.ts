import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createRestClient } from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import { runAudit } from '../support/audit.js'
import type { TestVenue } from '../support/venue.js'
import { scrape, targetsOf } from './stage/metrics.js'
import { openOutsideChain, type OutsideChain } from './stage/outside-venue.js'
import type { NodeFault } from './stage/faulty-node.js'
import { createTrader, SPOT } from './stage/trader.js'

/** How long each fault lasts; five minutes and an hour by hand: `FAULT_SECONDS=3600`. */
const FAULT_MS = Number(process.env.FAULT_SECONDS ?? 3) * 1_000
/** Processes that read the chain here: submitters and keeper have no key. */
const READERS = ['chain-reader', 'order-intake', 'executor', 'gateway', 'ws-fanout'] as const
/** Rests, whatever trades. */
const FAR = { side: 'sell', amount: '5', price: '0.00095' } as const
/** The guard asks each five seconds and believes three answers; the rest is the market's hold. */
const BACK_WITHIN_MS = 60_000

describe('a node with a fault', function () {
  let chain: OutsideChain
  let venue: TestVenue | undefined
  before(async () => {
    chain = await openOutsideChain()
    venue = await chain.start()
  })
  after(async () => {
    await venue?.stop({ keepData: true })
    await chain?.remove()
  })
  const running = (): TestVenue => {
    if (venue === undefined) throw new Error('the venue does not run')
    return venue
  }
  const statusOf = async () => {
    const markets = await createRestClient(running().gatewayUrl).markets()
    return markets.find(({ market }) => market === SPOT)?.trading_status
  }
  const untilOpen = () =>
    eventually(async () => expect(await statusOf()).to.equal('open'), BACK_WITHIN_MS)
  /** Trades again: of two orders that cross, one is filled by whatever rests. */
  const untilTrading = async () => {
    const maker = createTrader(running().devnet, 0)
    const taker = createTrader(running().devnet, 1)
    const orders = [
      await maker.place({ side: 'sell', amount: '5', price: '0.00060' }),
      await taker.place({ side: 'buy', amount: '5', price: '0.00080' }),
    ]
    const rest = createRestClient(running().gatewayUrl)
    await eventually(async () => {
      const found = await Promise.all(orders.map(({ order_id: id }) => rest.order(id)))
      expect(found.map(({ status }) => status)).to.include('filled')
    }, BACK_WITHIN_MS)
  }
  for (const fault of ['other chain', 'errors', 'silent', 'old heads'] as const)
    it(`that shows "${fault}" for a while ends no process and no order, and trade goes on afterwards`, async () => {
      await untilTrading()
      const resting = await createTrader(running().devnet, 2).place(FAR)
      const before = await running().pids()
      await chain.node.show(fault)
      await eventually(() => chain.node.faulty() > 20)
      await expectSeen(fault)
      await delay(FAULT_MS)
      expect(await running().pids(), 'no process has ended').to.deep.equal(before)
      await chain.node.show('none')
      await untilOpen()
      await untilTrading()
      const rest = createRestClient(running().gatewayUrl)
      expect((await rest.order(resting.order_id)).status).to.equal('active')
      expect(await running().pids(), 'no process has ended').to.deep.equal(before)
    })

  /** What an operator sees of it. */
  async function expectSeen(fault: NodeFault): Promise<void> {
    const { dataDir } = running()
    const value = async (process: string, name: string) =>
      (await scrape(dataDir, process)).find(({ series }) => series === name)?.value
    if (fault === 'other chain') {
      for (const name of READERS)
        await eventually(async () =>
          expect(await value(name, 'venue_other_chain'), name).to.equal('1'),
        )
      expect([...targetsOf(dataDir).keys()]).to.include.members([...READERS])
    }
    await eventually(async () => {
      if (fault === 'old heads') {
        const block = Number(await value('chain-reader', 'venue_chain_block_timestamp_seconds'))
        expect(Date.now() / 1_000 - block).to.be.above(3)
      } else
        expect(Number(await value('chain-reader', 'venue_chain_silent_seconds'))).to.be.above(3)
    })
    if (fault === 'old heads') return
    await eventually(async () => expect(await statusOf()).to.equal('held'))
  }

  it('leaves log, databases and chain in agreement', async () => {
    const { code, output } = await runAudit({
      PATH: process.env.PATH,
      DATA_DIR: chain.dataDir,
      RPC_URL: chain.node.rpcUrl,
    })
    expect(output).to.not.match(/^failed/m)
    expect(code).to.equal(0)
  })

  it('that answers nothing keeps no process from stopping in order', async () => {
    await chain.node.show('hangs')
    await eventually(() => chain.node.faulty() > 12)
    await running().stop({ keepData: true })
    venue = undefined
    const logs = join(chain.dataDir, 'logs')
    const late = readdirSync(logs).filter((name) =>
      readFileSync(join(logs, name), 'utf8').includes('stop took too long'),
    )
    expect(late).to.deep.equal([])
  })
})
