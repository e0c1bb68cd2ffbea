import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createTestClient,
  encodeFunctionData,
  http,
  parseAbi,
  parseEther,
  publicActions,
  walletActions,
} from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Address } from '../../core/action.js'
import { roleAccounts } from '../../devnet/chain/accounts.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { runAudit } from '../support/audit.js'
import { inheritedEnvironment } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { tempDir } from '../support/temp-dir.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { endlessSteps, startLoad } from './stage/load.js'
import { expectReconciled, readAllBalances } from './stage/reconcile.js'
import { createTrader, SPOT } from './stage/trader.js'

const PER_SECOND = 20
/** Load before the rotation, and again after it. */
const STEPS = 5 * PER_SECOND
/** A block of a second is final after 64 more. */
const FINAL_WITHIN_MS = 150_000

const admin = parseAbi([
  'function owner() view returns (address)',
  'function setOperator(address operator, bool allowed)',
])

describe('the rotation of the executor’s key under load', function () {
  this.timeout(420_000)
  const dir = tempDir()
  const keyFile = join(dir.path, 'executor.key')
  const newFile = join(dir.path, 'executor.key.new')
  let venue: TestVenue
  let old: Address
  const current = generatePrivateKey()
  const address = privateKeyToAddress(current)

  before(async () => {
    const { executor } = await roleAccounts(dir.path)
    old = executor.address
    writeFileSync(keyFile, executor.privateKey, { mode: 0o600 })
    writeFileSync(newFile, `${current}\n`, { mode: 0o400 })
    venue = await startVenue({ dataDir: dir.path, env: { EXECUTOR_KEY_FILE: keyFile } })
  })
  after(async () => {
    await venue?.stop()
    dir.remove()
  })

  const chain = () =>
    createTestClient({ mode: 'anvil', transport: http(venue.devnet.rpc_url) })
      .extend(publicActions)
      .extend(walletActions)

  async function allow(): Promise<void> {
    const client = chain()
    const to = venue.devnet.batch_executor
    const account = await client.readContract({ address: to, abi: admin, functionName: 'owner' })
    await client.impersonateAccount({ address: account })
    const data = encodeFunctionData({
      abi: admin,
      functionName: 'setOperator',
      args: [address, true],
    })
    const hash = await client.sendTransaction({ account, to, data, chain: null })
    await eventually(async () => {
      expect((await client.getTransactionReceipt({ hash })).status).to.equal('success')
    })
  }

  async function rotate(...words: readonly string[]) {
    const env = { ...inheritedEnvironment(), DATA_DIR: dir.path, EXECUTOR_KEY_FILE: keyFile }
    const child = spawn('./venue', ['rotate-key', 'executor', ...words], {
      ...{ cwd: inProject('.'), env },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, output }
  }

  it('refuses a key without right and gas, then loses and doubles nothing', async () => {
    const refused = await rotate(newFile)
    expect(refused.code, refused.output).to.equal(1)
    expect(refused.output)
      .to.include('is no operator of')
      .and.include('send gas money')
      .and.include('nothing was changed')
    expect(existsSync(newFile)).to.equal(true)

    await chain().setBalance({ address, value: parseEther('10') })
    await allow()
    const traders = [0, 1, 2].map((name) => createTrader(venue.devnet, name))
    const before = await readAllBalances(venue)
    const steps = endlessSteps(traders)
    const load = startLoad({ gatewayUrl: venue.gatewayUrl, steps, perSecond: PER_SECOND })
    const run = async () => {
      await eventually(() => load.sent() >= STEPS, 60_000)
      const first = (await venue.pids()).executor
      const done = await rotate(newFile)
      expect(done.code, done.output).to.equal(0)
      await eventually(async () => {
        const now = (await venue.pids()).executor
        expect(now).to.be.a('number').and.not.equal(first)
      }, 30_000)
      const sent = load.sent()
      await eventually(() => load.sent() >= sent + STEPS, 60_000)
      await eventually(async () => {
        expect(await chain().getTransactionCount({ address })).to.be.above(0)
      }, 30_000)
    }
    await run().finally(() => load.stop())
    const trades = await expectReconciled(venue, await load.answered(), { before })
    expect(trades.get(SPOT), 'trades').to.be.above(20)
    const sentByOld = await chain().getTransactionCount({ address: old })
    expect(sentByOld).to.be.above(0)

    await eventually(async () => {
      const concluded = await rotate()
      expect(concluded.output).to.include(`${old} is retired`)
      expect(concluded.code).to.equal(0)
    }, FINAL_WITHIN_MS)
    expect(existsSync(`${keyFile}.retiring`)).to.equal(false)
    const audit = await runAudit({ PATH: process.env.PATH, DATA_DIR: dir.path })
    expect(audit.code, audit.output).to.equal(0)
    // Nothing of the old key is needed any more.
    await venue.restartWorker('executor')
    await venue.untilReady()
  })
})
