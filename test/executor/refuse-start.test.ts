import { expect } from 'chai'
import { DeploymentMismatch } from '../../chain/reads/deployment.js'
import type { Address } from '../../core/action.js'
import { create, openWorld, type World } from '../support/devnet-world.js'
import {
  removeDir,
  startExecutor,
  temporaryDir,
  type ExecutorSetup,
} from '../support/executor-world.js'

describe('executor that refuses to start', () => {
  let world: World
  let dataDir: string

  before(async () => {
    world = await openWorld()
    dataDir = await temporaryDir()
  })
  after(async () => {
    await removeDir(dataDir)
    await world.anvil.stop()
  })

  async function failureOf(setup: ExecutorSetup): Promise<Error> {
    const failure: unknown = await startExecutor(world, { dataDir, ...setup }).catch(
      (error: unknown) => error,
    )
    expect(failure).to.be.instanceOf(DeploymentMismatch)
    return failure as Error
  }

  const cases: Record<string, { setup: ExecutorSetup; message: RegExp }> = {
    'on another chain': {
      setup: { chainId: 84_532 },
      message: /the deployment is on chain 84532, the node on 8453/,
    },
    'where there are no contracts': {
      setup: { matching: `0x${'ab'.repeat(20)}` satisfies Address },
      message: /no contract at matching 0xabab/,
    },
  }

  for (const [name, { setup, message }] of Object.entries(cases)) {
    it(`says why: ${name}`, async () => {
      expect((await failureOf(setup)).message).to.match(message)
    })
  }

  it('says why: with a batch executor for another matching contract', async () => {
    const batchExecutor = await create(world, 'BatchExecutor', world.at.spot_trade_module)
    const failure = await failureOf({ batchExecutor })
    expect(failure.message).to.match(/batch executor 0x[0-9a-f]{40} works for 0x/)
  })

  it('leaves the journal to the next one', async () => {
    const executor = await startExecutor(world, { dataDir })
    expect(await fetch(`${executor.url}/healthz`).then((r) => r.status)).to.equal(200)
    await executor.stop()
  })
})
