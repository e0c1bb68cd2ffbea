import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseAbi, parseEther } from 'viem'
import {
  checkDeployment,
  type CheckedDeployment,
} from '../../../chain/contracts/check-deployment.js'
import { createChainClient } from '../../../chain/reads/client.js'
import { deploymentSchema } from '../../../chain/reads/deployment.js'
import { expiriesFrom } from '../../../core/contracts/future-calendar.js'
import { joinMarket, parseRow } from '../../../data/market-row.js'
import { loadMarkets } from '../../../data/markets.js'
import { rowOfNextSeries } from '../../../data/series-row.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { BREAKS, type DeploymentChange } from '../../support/deployment-breaks.js'
import { administer, openWorld, type World } from '../../support/devnet-world.js'

/** What the check says of each break, with the names of the deployment file in place of addresses. `WRITE_DOCS=1` writes it. */
const TABLE = inProject('test/chain/contracts/deployment-breaks.txt')
const A_DAY = 86_400n
/** In the middle of a month. */
const START_SEC = 1_760_000_000
/** Prices of this age are old where a heartbeat is 0, and funding has run, whatever the machine's pace. */
const AGED_SEC = 60n

describe('checkDeployment of a deployment in which one fact is broken', () => {
  let world: World
  let deps: CheckedDeployment
  before(async () => {
    const [expirySec = 0] = expiriesFrom('month-end', START_SEC)
    world = await openWorld({ startSec: START_SEC }, [expirySec])
    const at = world.at as never
    const series = { ...rowOfNextSeries([], expirySec), ordinal: 2 }
    const heart = parseAbi(['function setHeartbeat(uint64 heartbeat)'])
    for (const feed of ['spot_feed', 'perp_feed', 'impact_bid_feed', 'impact_ask_feed'] as const)
      await administer(world, world.at[feed], heart, 'setHeartbeat', A_DAY)
    for (const feed of ['stable_feed', 'futures_index_feed'] as const)
      await administer(world, world.at[feed], heart, 'setHeartbeat', A_DAY)
    await world.client.setBalance({ address: world.executor, value: parseEther('1') })
    deps = {
      client: createChainClient(world.anvil.rpcUrl, 'read'),
      deployment: deploymentSchema.parse(world.at),
      markets: [...loadMarkets(at).markets, joinMarket(parseRow(series), at)],
      executor: { role: 'executor', address: world.executor, reserveWei: 1n },
      submitters: [],
      nowMs: Date.now,
    }
  })
  after(async () => {
    await world?.anvil.stop()
  })

  /** Lines that are not ok, in a block that is made some time after the newest, and at its time. */
  async function faults(changed: DeploymentChange | void): Promise<string[]> {
    const { timestamp: newest } = await world.client.getBlock()
    const timestamp = newest + AGED_SEC
    await world.client.setNextBlockTimestamp({ timestamp })
    await world.client.mine({ blocks: 1 })
    const client = createChainClient(world.anvil.rpcUrl, 'read')
    const now = { nowMs: () => Number(timestamp) * 1_000 + (changed?.nowMs ? 120_000 : 0) }
    const checks = await checkDeployment({ ...deps, client, ...changed, ...now })
    return checks
      .filter(({ result }) => result !== 'ok')
      .map(({ what, result, detail }) => named(`${result} ${what}: ${detail}`))
  }

  /** Addresses by their names in the deployment file; what differs from run to run by a word for it. */
  function named(line: string): string {
    const names = Object.entries(world.at as unknown as Record<string, unknown>)
    return names
      .filter(([name]) => name !== 'futures_manager')
      .reduce(
        (text, [name, value]) =>
          typeof value === 'string' && value.startsWith('0x')
            ? text.replaceAll(new RegExp(value, 'gi'), name)
            : text,
        line,
      )
      .replaceAll(world.executor, 'executor')
      .replaceAll(/0x[0-9a-f]{40}/g, 'another')
      .replaceAll(/USDC-cNGN-\w+/g, 'SERIES')
      .replaceAll(/\b1\d{9}\b/g, 'EXPIRY')
      .replaceAll(/newest block, \d+,/g, 'newest block,')
  }

  it('says nothing where nothing is broken, and the table where one thing is', async () => {
    const spoken: string[] = ['nothing', ...(await faults({}))]
    for (const { name, spoil } of BREAKS) {
      const id = await world.client.snapshot()
      const changed = await spoil(world, deps)
      const lines = await faults(changed)
      await world.client.revert({ id })
      spoken.push('', name, ...lines.map((line) => `  ${line}`))
    }
    const text = `${spoken.join('\n')}\n`
    if (process.env.WRITE_DOCS === '1') writeFileSync(TABLE, text)
    expect(text).to.equal(readFileSync(TABLE, 'utf8'))
  })

  it('has at least one line that failed for each break', () => {
    const blocks = readFileSync(TABLE, 'utf8').trim().split('\n\n')
    expect(blocks.shift()).to.equal('nothing')
    expect(blocks.map((block) => block.split('\n')[0])).to.deep.equal(
      BREAKS.map(({ name }) => name),
    )
    for (const block of blocks) expect(block).to.match(/\n {2}failed /)
  })
})
