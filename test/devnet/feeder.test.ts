import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { futureAssetAbi, perpAssetAbi } from '../../chain/abi/contracts.js'
import { START_PRICES, type FeedPrices } from '../../devnet/chain/perp-parameters.js'
import { BatchError } from '../../devnet/chain/transaction-batch.js'
import { createFeeder } from '../../devnet/feeder/feeder.js'
import { pricesFile, pricesSchema, readPrices } from '../../devnet/feeder/prices.js'
import { createPublisher } from '../../devnet/feeder/publish.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { inheritedEnvironment } from '../support/config.js'
import { openWorld, testKey, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import { e18 } from '../support/perp-world.js'

const FEEDER_KEY = testKey(1004)

describe('devnet/feeder', () => {
  let dir: string

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'feeder-'))
  })
  after(() => rm(dir, { recursive: true }))

  it('publishes at once, on a change and after the interval, and again what failed', async () => {
    let prices = START_PRICES
    let now = 0
    let broken = false
    const published: FeedPrices[] = []
    const feeder = createFeeder({
      readPrices: () => Promise.resolve(prices),
      publisher: {
        publish: (given) => {
          if (broken) return Promise.reject(new BatchError('no receipt'))
          published.push(given)
          return Promise.resolve()
        },
      },
      everyMs: 1_000,
      nowMs: () => now,
    })
    await feeder.round()
    now = 999
    await feeder.round()
    expect(published).to.have.length(1)
    now = 1_000
    await feeder.round()
    expect(published).to.have.length(2)
    prices = { ...prices, confidence: 1n }
    broken = true
    expect(await feeder.round().catch(String)).to.include('no receipt')
    broken = false
    await feeder.round()
    expect(published.slice(2)).to.deep.equal([prices])
  })

  it('reads its prices from a file, or starts with those of the deployment', async () => {
    const file = pricesFile(dir)
    expect(await readPrices(file)).to.deep.equal(START_PRICES)
    await writeFile(file, '{"index": "0.0007", "ask": "0.00071", "stable": "0.98"}')
    const index = e18('0.0007')
    expect(await readPrices(file)).to.deep.equal({
      index,
      mark: index,
      bid: index,
      ask: e18('0.00071'),
      stable: e18('0.98'),
      confidence: e18('1'),
    })
    for (const [text, complaint] of [
      ['{"index": 1}', /prices\.json: .*expected string/],
      ['{"index": "1", "spot": "1"}', /Unrecognized key: "spot"/],
      ['{"index": "-1"}', /must be a decimal/],
      ['{', /prices\.json is not JSON/],
    ] as const) {
      await writeFile(file, text)
      expect(await readPrices(file).catch(String)).to.match(complaint)
    }
  })

  describe('on a chain with a block every second', function () {
    let world: World

    before(async () => {
      world = await openWorld()
      await world.client.setIntervalMining({ interval: 1 })
      await world.client.setAutomine(false)
    })
    after(() => world.anvil.stop())

    const read = { abi: perpAssetAbi } as const
    const index = async () => {
      const address = world.at.perp_asset
      return (
        await world.client.readContract({ ...read, address, functionName: 'getIndexPrice' })
      )[0]
    }
    const futuresIndex = () => {
      const call = { abi: futureAssetAbi, functionName: 'getIndexPrice' } as const
      return world.client.readContract({ ...call, address: world.at.future_asset })
    }
    const publisher = () =>
      createPublisher({
        rpcUrl: world.anvil.rpcUrl,
        feeds: world.at,
        futuresIndexFeed: world.at.futures_index_feed,
        privateKey: FEEDER_KEY,
      })

    it('updates every feed, in every block if need be, and that of the futures with the inverse', async () => {
      for (const [price, inverse] of [
        ['0.0008', '1250'],
        ['0.000625', '1600'],
      ] as const) {
        await publisher().publish(pricesSchema.parse({ index: price }))
        expect(await index()).to.equal(e18(price))
        expect(await futuresIndex()).to.equal(e18(inverse))
      }
    })

    it('updates the feeds although the perpetual refuses their prices', async () => {
      const crossed = { index: '0.0006', bid: '0.00062', ask: '0.0006' }
      await publisher().publish(pricesSchema.parse(crossed))
      expect(await index()).to.equal(e18('0.0006'))
    })

    it('is a process that follows its file and ends on SIGTERM', async () => {
      const deployment = join(dir, 'devnet.json')
      await writeFile(deployment, JSON.stringify(world.at))
      await writeFile(pricesFile(dir), '{"index": "0.0008"}')
      const child = spawn(process.execPath, [inProject('dist/devnet/feeder.js')], {
        env: {
          ...inheritedEnvironment(),
          RPC_URL: world.anvil.rpcUrl,
          DEPLOYMENT_FILE: deployment,
          DATA_DIR: dir,
          FEEDER_PRIVATE_KEY: FEEDER_KEY,
          LOG_LEVEL: 'silent',
        },
        stdio: 'ignore',
      })
      const exited = once(child, 'exit')
      for (const price of ['0.0008', '0.0009']) {
        await writeFile(pricesFile(dir), JSON.stringify({ index: price }))
        await eventually(async () => expect(await index()).to.equal(e18(price)))
      }
      child.kill('SIGTERM')
      expect(await exited).to.deep.equal([0, null])
    })
  })
})
