import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BATCH_EXECUTOR_CODE } from '../../chain/abi/batch-executor-code.js'
import { batchExecutorAbi, matchingAbi } from '../../chain/abi/contracts.js'
import { NotCreated } from '../../chain/contracts/create-contract.js'
import { deployBatchExecutor } from '../../actors/operator/deploy-batch-executor.js'
import { readTask } from '../../actors/operator/command-line.js'
import type { Address } from '../../core/action.js'
import { compileContracts } from '../../devnet/chain/compile-contracts.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { ANVIL_KEY } from '../support/anvil.js'
import { openWorld, receiptOf, send, testKey, type World } from '../support/devnet-world.js'
import { tempDir } from '../support/temp-dir.js'

const CODE_FILE = 'chain/abi/batch-executor-code.ts'
const EXECUTOR: Address = '0x00000000000000000000000000000000000000ee'
const OWNER: Address = '0x00000000000000000000000000000000000000aa'

describe('./venue deploy batch-executor', () => {
  const dir = tempDir()
  const keyFile = join(dir.path, 'deployer')
  const deploymentFile = join(dir.path, 'deployment.json')
  let world: World
  before(async () => {
    world = await openWorld({ blockTime: 1 })
    writeFileSync(keyFile, `${ANVIL_KEY}\n`, { mode: 0o600 })
  })
  after(async () => {
    await world?.anvil.stop()
    dir.remove()
  })

  const deploy = (batchExecutor: Address | undefined, words: readonly string[] = []) => {
    writeFileSync(deploymentFile, JSON.stringify({ ...world.at, batch_executor: batchExecutor }))
    const task = readTask([
      ...['deploy', 'batch-executor', '--key-file', keyFile, '--executor', EXECUTOR, ...words],
    ])
    if (task.kind !== 'deploy') throw new Error('another task')
    return deployBatchExecutor({ rpcUrl: world.anvil.rpcUrl, deploymentFile }, task)
  }
  const contract = (address: Address) => ({ address, abi: batchExecutorAbi }) as const
  const sent = () => world.client.getTransactionCount({ address: world.at.deployer })

  it('has the code of the source', async () => {
    const { BatchExecutor } = await compileContracts()
    const text = readFileSync(inProject(CODE_FILE), 'utf8')
    if (process.env.WRITE_DOCS === '1')
      writeFileSync(
        inProject(CODE_FILE),
        text.replace(/'0x[0-9a-f]*'/, `'${BatchExecutor.bytecode}'`),
      )
    expect(BATCH_EXECUTOR_CODE).to.equal(BatchExecutor.bytecode)
  })

  it('creates one for matching that the executor may use, and says what the owner of matching does', async () => {
    const lines = await deploy(undefined)
    const [, address = ''] = /"batch_executor": "(0x[0-9a-f]{40})"/.exec(lines.join('\n')) ?? []
    const made = contract(address as Address)
    expect(address).to.not.equal(world.at.batch_executor)
    const read = (functionName: 'matching' | 'owner') =>
      world.client.readContract({ ...made, functionName })
    expect((await read('matching')).toLowerCase()).to.equal(world.at.matching)
    expect((await read('owner')).toLowerCase()).to.equal(world.at.deployer)
    const args = [EXECUTOR] as const
    expect(await world.client.readContract({ ...made, functionName: 'operators', args })).to.equal(
      true,
    )
    // The data that it prints is the call of the owner of matching.
    const allowed = () =>
      world.client.readContract({
        address: world.at.matching,
        abi: matchingAbi,
        functionName: 'tradeExecutors',
        args: [address as Address],
      })
    expect(await allowed()).to.equal(false)
    const data = lines.at(-1) as `0x${string}`
    await receiptOf(
      world,
      await send(world, { from: world.at.deployer, to: world.at.matching, data }),
    )
    expect(await allowed()).to.equal(true)

    // Named in the file it is completed: nothing is sent but what is missing.
    const before = await sent()
    expect((await deploy(address as Address))[0]).to.equal(`batch executor ${address}: was there`)
    expect(await sent()).to.equal(before)
    await deploy(address as Address, ['--owner', OWNER])
    expect(await sent()).to.equal(before + 1)
    expect((await read('owner')).toLowerCase()).to.equal(OWNER)
  })

  it('refuses a file that names another contract, another chain, a bad address, and a key without money', async () => {
    const why = async (attempt: Promise<unknown>) => {
      const error = await attempt.catch((thrown: unknown) => thrown)
      return (error as Error).message
    }
    expect(await why(deploy(world.at.usdc))).to.include('no answer from the chain: batch executor')
    expect(await why(deploy(OWNER))).to.include(
      `${OWNER} is no batch executor of ${world.at.matching}`,
    )
    expect(await why(deploy(undefined, ['--owner', '0x12']))).to.include(
      '0x12 is not an address of the owner',
    )
    const { chain_id: chain } = world.at
    world = { ...world, at: { ...world.at, chain_id: 1 } }
    expect(await why(deploy(undefined))).to.include(`the node is of chain ${chain}`)
    world = { ...world, at: { ...world.at, chain_id: chain } }
    writeFileSync(keyFile, `${testKey(77)}\n`, { mode: 0o600 })
    const refused = await deploy(undefined).catch((thrown: unknown) => thrown)
    expect(refused).to.be.instanceOf(NotCreated)
    expect((refused as Error).message).to.match(/refuses it|may not have been sent/)
  })
})
