import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createTestClient,
  encodeFunctionData,
  formatUnits,
  http,
  parseAbi,
  parseEther,
  publicActions,
  walletActions,
} from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { erc20Abi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import type { JournalOwner } from '../../core/transaction-journal.js'
import { roleAccounts, type KeyedAccount } from '../../devnet/chain/accounts.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { runAudit } from '../support/audit.js'
import { inheritedEnvironment } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { tempDir } from '../support/temp-dir.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { endlessSteps, startLoad } from './stage/load.js'
import { expectReconciled, readAllBalances } from './stage/reconcile.js'
import { createTrader, SPOT } from './stage/trader.js'
import { seedTransferUsers, startTransfers, type EndedTransfer } from './stage/transfer-load.js'

const PER_SECOND = 20
/** Load before the rotation, and again after it. */
const STEPS = 5 * PER_SECOND
/** Transfers of each kind before the rotation of their keys, and again after it. */
const TRANSFERS = 6
/** More than bring those about on a busy machine. */
const OWNERS = 40
/** A block of a second is final after 64 more. */
const FINAL_WITHIN_MS = 150_000

const admin = parseAbi([
  'function owner() view returns (address)',
  'function setOperator(address operator, bool allowed)',
  'function setTradeExecutor(address executor, bool allowed)',
])

/** The key of a process in its file, and the one that takes its place. */
interface Rotation {
  readonly role: JournalOwner
  readonly setting: string
  readonly keyFile: string
  readonly newFile: string
  readonly old: Address
  readonly address: Address
}

describe('the rotation of keys in a running venue', function () {
  const dir = tempDir()
  let venue: TestVenue
  let executor: Rotation
  let depositor: Rotation
  let withdrawer: Rotation

  before(async () => {
    const roles = await roleAccounts(dir.path)
    executor = prepare('executor', roles.executor)
    depositor = prepare('deposit-submitter', roles.deposit_submitter)
    withdrawer = prepare('withdrawal-submitter', roles.withdrawal_submitter)
    venue = await startVenue({ dataDir: dir.path, env: settings() })
  })
  after(async () => {
    await venue?.stop()
    dir.remove()
  })

  const chain = () =>
    createTestClient({ mode: 'anvil', transport: http(venue.devnet.rpc_url) })
      .extend(publicActions)
      .extend(walletActions)

  function prepare(role: JournalOwner, { address: old, privateKey }: KeyedAccount): Rotation {
    const keyFile = join(dir.path, `${role}.key`)
    const newFile = `${keyFile}.new`
    const current = generatePrivateKey()
    writeFileSync(keyFile, privateKey, { mode: 0o600 })
    writeFileSync(newFile, `${current}\n`, { mode: 0o400 })
    const setting = `${role.toUpperCase().replace('-', '_')}_KEY_FILE`
    return { role, setting, keyFile, newFile, old, address: privateKeyToAddress(current) }
  }
  const settings = () =>
    Object.fromEntries(
      [executor, depositor, withdrawer].map(({ setting, keyFile }) => [setting, keyFile]),
    )
  const sentBy = (address: Address) => chain().getTransactionCount({ address })

  /** Gives the new key the right of its process, and gas money. */
  async function allow({ role, address }: Rotation): Promise<void> {
    const client = chain()
    await client.setBalance({ address, value: parseEther('10') })
    const [to, functionName] =
      role === 'executor'
        ? ([venue.devnet.batch_executor, 'setOperator'] as const)
        : ([venue.devnet.matching, 'setTradeExecutor'] as const)
    const account = await client.readContract({ address: to, abi: admin, functionName: 'owner' })
    await client.impersonateAccount({ address: account })
    const data = encodeFunctionData({ abi: admin, functionName, args: [address, true] })
    const hash = await client.sendTransaction({ account, to, data, chain: null })
    await eventually(async () => {
      expect((await client.getTransactionReceipt({ hash })).status).to.equal('success')
    })
  }

  async function rotate({ role }: Rotation, ...words: readonly string[]) {
    const env = { ...inheritedEnvironment(), ...settings(), DATA_DIR: dir.path }
    const child = spawn('./venue', ['rotate-key', role, ...words], {
      cwd: inProject('.'),
      env,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, output }
  }

  async function rotated(rotation: Rotation): Promise<void> {
    const pid = async () => new Map(Object.entries(await venue.pids())).get(rotation.role)
    const before = await pid()
    const done = await rotate(rotation, rotation.newFile)
    expect(done.code, done.output).to.equal(0)
    await eventually(async () => {
      expect(await pid())
        .to.be.a('number')
        .and.not.equal(before)
    }, 30_000)
  }

  async function concluded(rotation: Rotation): Promise<void> {
    await eventually(async () => {
      const { code, output } = await rotate(rotation)
      expect(output).to.include(`${rotation.old} is retired`)
      expect(code).to.equal(0)
    }, FINAL_WITHIN_MS)
    expect(existsSync(`${rotation.keyFile}.retiring`)).to.equal(false)
    // Nothing of the old key is needed any more.
    await venue.restartWorker(rotation.role)
  }

  /** The chain has moved what the transfers say, and nothing else of their owners. */
  async function expectMovedOnce(transfers: readonly EndedTransfer[], fromBlock: bigint) {
    const told = transfers.map(({ kind, owner, amount }) => `${kind} ${owner} ${amount}`)
    const owners = new Set(transfers.map(({ owner }) => owner))
    const { usdc: address } = venue.devnet
    const events = await chain().getContractEvents({
      address,
      abi: erc20Abi,
      eventName: 'Transfer',
      fromBlock,
      strict: true,
    })
    const moved = events.flatMap(({ args: { from, to, value } }) => {
      const whole = formatUnits(value, 6)
      const [payer, payee] = [from.toLowerCase(), to.toLowerCase()]
      if (owners.has(payer)) return [`deposit ${payer} ${whole}`]
      return owners.has(payee) ? [`withdrawal ${payee} ${whole}`] : []
    })
    expect(moved.sort()).to.deep.equal(told.sort())
  }

  /** Both keys have sent, each nonce of theirs for a transfer or its permit. */
  async function expectNoncesUsed({ role, ...keys }: Rotation, all: readonly EndedTransfer[]) {
    const hashes = all
      .filter(({ kind }) => role === `${kind}-submitter`)
      .flatMap(({ record }) => [
        record.tx_hash,
        'permit_tx_hash' in record ? record.permit_tx_hash : undefined,
      ])
      .filter((hash) => hash !== undefined) as Hex[]
    const sent = await Promise.all(hashes.map((hash) => chain().getTransaction({ hash })))
    for (const key of [keys.old, keys.address]) {
      const nonces = sent.filter(({ from }) => from.toLowerCase() === key.toLowerCase())
      const used = nonces.map(({ nonce }) => nonce).sort((a, b) => a - b)
      expect(used, `${role} ${key}`).to.deep.equal([...Array(await sentBy(key)).keys()])
      expect(used).to.not.deep.equal([])
    }
  }

  it('loses and doubles no match, and refuses a key without right and gas', async () => {
    const refused = await rotate(executor, executor.newFile)
    expect(refused.code, refused.output).to.equal(1)
    expect(refused.output)
      .to.include('is not an operator of')
      .and.include('send gas money')
      .and.include('nothing was changed')
    expect(existsSync(executor.newFile)).to.equal(true)

    await allow(executor)
    const traders = [0, 1, 2].map((name) => createTrader(venue.devnet, name))
    const before = await readAllBalances(venue)
    const steps = endlessSteps(traders)
    const load = startLoad({ gatewayUrl: venue.gatewayUrl, steps, perSecond: PER_SECOND })
    const run = async () => {
      await eventually(() => load.sent() >= STEPS, 60_000)
      await rotated(executor)
      const sent = load.sent()
      await eventually(() => load.sent() >= sent + STEPS, 60_000)
      await eventually(async () => {
        expect(await sentBy(executor.address)).to.be.above(0)
      }, 30_000)
    }
    await run().finally(() => load.stop())
    const trades = await expectReconciled(venue, await load.answered(), { before })
    expect(trades.get(SPOT), 'trades').to.be.above(20)
    expect(await sentBy(executor.old)).to.be.above(0)
  })

  it('loses and doubles no deposit and no withdrawal of several owners', async () => {
    // One after the other: both rights are given by one account, whose transactions are numbered by the chain.
    for (const rotation of [depositor, withdrawer]) await allow(rotation)
    const users = await seedTransferUsers(venue, OWNERS)
    const fromBlock = (await chain().getBlockNumber()) + 1n
    const load = startTransfers(users, venue.devnet.wrapped_usdc)
    const ended = () => [load.ended('deposit'), load.ended('withdrawal')] as const
    /** Further transfers of each kind. */
    const more = async () => {
      const before = ended()
      await eventually(
        () => ended().every((count, kind) => count >= (before[kind] ?? 0) + TRANSFERS),
        60_000,
      )
    }
    const run = async () => {
      await more()
      await Promise.all([depositor, withdrawer].map(rotated))
      await more()
    }
    await Promise.race([run(), load.all()]).finally(() => load.stop())
    const transfers = await load.all()
    const unlike = transfers.filter(({ record }) => record.status !== 'confirmed')
    expect(unlike, 'transfers that did not succeed').to.deep.equal([])
    await expectMovedOnce(transfers, fromBlock)
    await expectNoncesUsed(depositor, transfers)
    await expectNoncesUsed(withdrawer, transfers)
  })

  it('ends when all transactions of the old keys are final, and needs these no more', async () => {
    await Promise.all([executor, depositor, withdrawer].map(concluded))
    await venue.untilReady()
    const audit = await runAudit({ PATH: process.env.PATH, DATA_DIR: dir.path })
    expect(audit.code, audit.output).to.equal(0)
  })
})
