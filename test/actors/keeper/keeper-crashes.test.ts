import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getAbiItem } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { dutchAuctionAbi } from '../../../chain/abi/contracts.js'
import { inheritedEnvironment } from '../../support/config.js'
import { lower, openWorld, testKey, type Trader, type World } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { openPerpAccount, setPrices, stopTheClock, trade } from '../../support/perp-world.js'
import type { ArmedKeeper } from './armed-keeper.js'

const KEY = testKey(1_078)
const STARTS_WITHIN_MS = 30_000

/** Every step between the simulation of a call and its known outcome. */
const POINTS = [
  'sender.after_sign_before_record',
  'sender.after_record_before_append',
  'journal.before_append',
  'journal.after_append_before_ack',
  'journal.after_ack_before_fold',
  'journal.in_fold',
  'sender.after_append_before_broadcast',
  'sender.during_broadcast',
  'sender.after_broadcast_before_mark',
  'sender.after_receipt_before_mark',
] as const

describe('a keeper that is killed', function () {
  let world: World
  let nats: TestNatsServer
  let account: Trader
  let dir: string
  const children: ChildProcess[] = []
  let mining: NodeJS.Timeout

  before(async () => {
    ;[world, nats] = await Promise.all([openWorld(), startNatsServer()])
    const address = privateKeyToAddress(KEY)
    await world.client.setBalance({ address, value: 10n ** 20n })
    await stopTheClock(world)
    const dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
    account = await openPerpAccount(world, world.carol, { cash: 100 })
    await trade(world, { buyer: account, seller: dealer, size: 1_000_000 })
    dir = mkdtempSync(join(tmpdir(), 'keepers-'))
    writeFileSync(join(dir, 'deployment.json'), JSON.stringify(world.at))
    // A keeper looks again at each block.
    mining = setInterval(() => void world.client.mine({ blocks: 1 }), 500)
  })
  afterEach(async () => {
    for (const child of children.splice(0)) await end(child)
  })
  after(async () => {
    clearInterval(mining)
    await Promise.all([world.anvil.stop(), nats.stop()])
    rmSync(dir, { recursive: true, force: true })
  })

  /** On a disk of its own. */
  function start(crashAt?: string): ChildProcess {
    const { at, anvil } = world
    const told: ArmedKeeper = {
      natsUrl: nats.url,
      rpcUrl: anvil.rpcUrl,
      privateKey: KEY,
      deploymentFile: join(dir, 'deployment.json'),
      dataDir: mkdtempSync(join(dir, 'data-')),
      perp: {
        assetAddress: lower(at.perp_asset),
        tradeModuleAddress: lower(at.perp_trade_module),
        marginManagerAddress: lower(at.perp_manager),
      },
    }
    const main = fileURLToPath(new URL('armed-keeper.js', import.meta.url))
    const child = spawn(process.execPath, [main, JSON.stringify(told)], {
      env: {
        ...inheritedEnvironment(),
        NODE_ENV: 'test',
        ...(crashAt !== undefined && { CRASH_AT: crashAt }),
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    children.push(child)
    return child
  }

  async function end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  const isLive = () =>
    world.client.readContract({
      address: world.at.dutch_auction,
      abi: dutchAuctionAbi,
      functionName: 'isAuctionLive',
      args: [account.subaccountId],
    })

  /** Auctions that have started and ended, in all. */
  async function counted(): Promise<readonly number[]> {
    const names = ['SolventAuctionStarted', 'AuctionEnded'] as const
    const found = names.map((name) =>
      world.client.getLogs({
        address: world.at.dutch_auction,
        event: getAbiItem({ abi: dutchAuctionAbi, name }),
        fromBlock: 0n,
      }),
    )
    return (await Promise.all(found)).map(({ length }) => length)
  }

  for (const [i, point] of POINTS.entries())
    it(`does what is due once when it dies at ${point}, and another goes on elsewhere`, async () => {
      await setPrices(world, { index: '0.00058' })
      const dying = start(point)
      const [, signal] = (await once(dying, 'exit')) as [unknown, unknown]
      expect(signal).to.equal('SIGKILL')
      start()
      await eventually(async () => expect(await isLive()).to.equal(true), STARTS_WITHIN_MS)
      await setPrices(world, { index: '0.00065' })
      await eventually(async () => expect(await isLive()).to.equal(false), STARTS_WITHIN_MS)
      // The node shows the state of a block that it mines before the block, and its events.
      await eventually(async () => expect(await counted()).to.deep.equal([i + 1, i + 1]))
    })
})
