import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEther } from 'viem'
import { openWorld, testKey, type World } from '../../support/devnet-world.js'
import { startVenue, type StartVenueOptions, type TestVenue } from '../../support/venue.js'
import { startFaultyNode, type FaultyNode } from './faulty-node.js'

/** Accounts that `openWorld` has made, and the keys of the venue's senders. */
const EXECUTOR_KEY = testKey(1002)

/** A chain that no venue has started, a node in front of it, and the directory of a venue on it. */
export interface OutsideChain {
  readonly world: World
  readonly node: FaultyNode
  readonly dataDir: string
  /** Runs `./venue up` on it. */
  start(options?: StartVenueOptions): Promise<TestVenue>
  remove(): Promise<void>
}

/** `dir`: where the data directory is made; the system's temporary one by default. */
export async function openOutsideChain(dir = tmpdir()): Promise<OutsideChain> {
  const world = await openWorld({ blockTime: 1 })
  await world.client.setBalance({ address: world.executor, value: parseEther('10') })
  const node = await startFaultyNode(world.anvil.rpcUrl)
  const dataDir = mkdtempSync(join(dir, 'venue-'))
  const deploymentFile = join(dataDir, 'outside.json')
  writeFileSync(deploymentFile, JSON.stringify(world.at))
  const devnet = {
    ...world.at,
    rpc_url: world.anvil.rpcUrl,
    accounts: [world.alice, world.bob, world.carol].map(({ address, subaccountId }, i) => ({
      name: `${i}`,
      address,
      private_key: testKey(i + 1),
      spot_subaccount_id: `${subaccountId}`,
      perp_subaccount_id: '0',
    })),
  }
  // As ./venue up leaves it beside a chain of its own.
  writeFileSync(join(dataDir, 'devnet.json'), JSON.stringify(devnet))
  return {
    world,
    node,
    dataDir,
    async start(options = {}) {
      const env = {
        RPC_URL: node.rpcUrl,
        DEPLOYMENT_FILE: deploymentFile,
        EXECUTOR_PRIVATE_KEY: EXECUTOR_KEY,
        ...options.env,
      }
      const venue = await startVenue({ ...options, dataDir, env })
      return { ...venue, devnet: { ...venue.devnet, gateway_url: venue.gatewayUrl } }
    },
    async remove() {
      await node.stop()
      await world.anvil.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
