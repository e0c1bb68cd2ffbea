import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import {
  batchExecutorAbi,
  erc20Abi,
  futureAssetAbi,
  matchingAbi,
  subAccountsAbi,
  tradeModuleAbi,
} from '../../chain/abi/contracts.js'
import { DeploymentFileError, loadDeployment } from '../../chain/reads/deployment.js'
import { expiriesFrom } from '../../core/contracts/future-calendar.js'
import { deploy, type DevnetDeployment } from '../../devnet/chain/deploy.js'
import { readSeriesOf } from '../../devnet/launcher/existing-series.js'
import { LauncherError } from '../../devnet/launcher/wait-for.js'
import { seedAccounts, type SeededAccount } from '../../devnet/chain/seed-accounts.js'
import { ANVIL_CHAIN_ID, ANVIL_KEY, startAnvil, type Anvil } from '../support/anvil.js'
import { lower, testKey } from '../support/devnet-world.js'

const EXECUTORS = [1002, 1003].map((n) => lower(privateKeyToAccount(testKey(n)).address))
const OWNERS = Array.from({ length: 7 }, (_, i) =>
  lower(privateKeyToAccount(testKey(i + 1)).address),
)

describe('deploying and seeding a chain with a block every second', () => {
  let anvil: Anvil
  let at: DevnetDeployment
  let seeded: readonly SeededAccount[]
  let directory: string

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'deployment-'))
    anvil = await startAnvil({ blockTime: 1 })
    const sender = { rpcUrl: anvil.rpcUrl, privateKey: ANVIL_KEY }
    at = await deploy({
      ...sender,
      tradeExecutors: EXECUTORS,
      batchOperators: EXECUTORS.slice(0, 1),
      feeOwnerKey: testKey(1001),
      feederKey: testKey(1004),
      calendar: 'month-end',
    })
    seeded = await seedAccounts({ ...sender, deployment: at, owners: OWNERS, mineNow: true })
  })
  after(async () => {
    await anvil.stop()
    await rm(directory, { recursive: true })
  })

  it('opens the series of the next two month ends', async () => {
    const { client } = anvil
    const asset = { address: at.future_asset, abi: futureAssetAbi } as const
    const open = await client.readContract({ ...asset, functionName: 'openSeries' })
    const { timestamp } = await client.getBlock()
    expect(open.map(Number)).to.deep.equal(expiriesFrom('month-end', Number(timestamp)))
    expect(open).to.have.length(2)
  })

  it('tells a new market file of another venue which series are open', async () => {
    const file = join(directory, 'existing.json')
    await writeFile(file, JSON.stringify(at))
    const { timestamp } = await anvil.client.getBlock()
    const expected = expiriesFrom('month-end', Number(timestamp))
    expect(await readSeriesOf(anvil.rpcUrl, file)).to.deep.equal(expected)
    const silent = await readSeriesOf('http://127.0.0.1:1', file).catch((error: unknown) => error)
    expect(silent).to.be.instanceOf(LauncherError)
    await writeFile(file, '[]')
    const malformed = await readSeriesOf(anvil.rpcUrl, file).catch((error: unknown) => error)
    expect(malformed).to.be.instanceOf(LauncherError)
    expect((malformed as Error).message).to.include('is not a JSON object')
  })

  it('allows the executors and the modules, and gives the executors gas money', async () => {
    const { client } = anvil
    const matching = { address: at.matching, abi: matchingAbi } as const
    for (const executor of EXECUTORS) {
      const call = { ...matching, functionName: 'tradeExecutors', args: [executor] } as const
      expect(await client.readContract(call)).to.equal(true)
      expect(await client.getBalance({ address: executor })).to.equal(100n * 10n ** 18n)
    }
    for (const module of [at.spot_trade_module, at.deposit_module, at.withdrawal_module]) {
      const call = { ...matching, functionName: 'allowedModules', args: [module] } as const
      expect(await client.readContract(call)).to.equal(true)
    }
  })

  it('lets the batch executor trade, for its operators alone', async () => {
    const { client } = anvil
    const trades = { address: at.matching, abi: matchingAbi } as const
    const args = [at.batch_executor] as const
    expect(await client.readContract({ ...trades, functionName: 'tradeExecutors', args })).to.equal(
      true,
    )
    const batches = { address: at.batch_executor, abi: batchExecutorAbi } as const
    const operators = EXECUTORS.map((executor) =>
      client.readContract({ ...batches, functionName: 'operators', args: [executor] }),
    )
    expect(await Promise.all(operators)).to.deep.equal([true, false])
    const matching = await client.readContract({ ...batches, functionName: 'matching' })
    expect(lower(matching)).to.equal(at.matching)
  })

  it('credits fees to the account of the fee owner under the spot manager', async () => {
    const { client } = anvil
    const id = BigInt(at.spot_fee_subaccount_id)
    const accounts = { address: at.sub_accounts, abi: subAccountsAbi, args: [id] } as const
    const owner = await client.readContract({ ...accounts, functionName: 'ownerOf' })
    const manager = await client.readContract({ ...accounts, functionName: 'manager' })
    const recipient = await client.readContract({
      address: at.spot_trade_module,
      abi: tradeModuleAbi,
      functionName: 'feeRecipient',
    })
    expect([lower(owner), lower(manager), recipient]).to.deep.equal([
      at.fee_owner,
      at.spot_manager,
      id,
    ])
  })

  it('gives each owner the same in the wallet and in an account of its own', async () => {
    const { client } = anvil
    expect(seeded.map((account) => account.owner)).to.deep.equal(OWNERS)
    for (const { owner, spotSubaccountId } of seeded) {
      const held = await client.readContract({
        address: at.sub_accounts,
        abi: subAccountsAbi,
        functionName: 'getAccountBalances',
        args: [spotSubaccountId],
      })
      expect(held.map((h) => [lower(h.asset), h.balance])).to.deep.equal([
        [at.wrapped_usdc, 1_000_000n * 10n ** 18n],
        [at.wrapped_cngn, 1_000_000_000n * 10n ** 18n],
      ])
      const recorded = await client.readContract({
        address: at.matching,
        abi: matchingAbi,
        functionName: 'subAccountToOwner',
        args: [spotSubaccountId],
      })
      expect(lower(recorded)).to.equal(owner)
      const inWallet = [at.usdc, at.cngn].map((address) =>
        client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] }),
      )
      expect(await Promise.all(inWallet)).to.deep.equal([10n ** 12n, 10n ** 15n])
      expect(await client.getBalance({ address: owner })).to.equal(100n * 10n ** 18n)
    }
  })

  it('is a deployment that the venue can load, other keys and letter case aside', async () => {
    const path = join(directory, 'devnet.json')
    const shouted = { ...at, matching: `0x${at.matching.slice(2).toUpperCase()}`, rpc_url: 'x' }
    await writeFile(path, JSON.stringify(shouted))
    const loaded = await loadDeployment(path)
    expect(Object.keys(loaded)).to.have.length(13)
    expect(Object.values(at)).to.include.members(Object.values(loaded))
    // Rows of market data name these.
    expect(at).to.include.keys('spot_trade_module', 'spot_manager')
    expect(at).to.include.keys('perp_asset', 'perp_trade_module', 'perp_manager', 'cash_asset')
    expect(loaded.chainId).to.equal(ANVIL_CHAIN_ID)
    expect(loaded.matching).to.equal(at.matching)
    expect(loaded.perpManager).to.equal(at.perp_manager)
    expect(loaded.batchExecutor).to.equal(at.batch_executor)
  })

  it('loads without perp manager, and refuses a file that lacks an address', async () => {
    const path = join(directory, 'partial.json')
    const { perp_manager, matching, ...rest } = at
    await writeFile(path, JSON.stringify({ ...rest, matching }))
    expect(perp_manager).to.match(/^0x/)
    expect(await loadDeployment(path)).to.not.have.property('perpManager')
    await writeFile(path, JSON.stringify(rest))
    expect(await refusal(path)).to.match(/partial\.json is not a deployment[^]*matching/)
    expect(await refusal(join(directory, 'nowhere.json'))).to.match(/cannot read .*nowhere\.json/)
  })

  async function refusal(path: string): Promise<string> {
    try {
      await loadDeployment(path)
      return 'none'
    } catch (error) {
      expect(error).to.be.instanceOf(DeploymentFileError)
      return (error as Error).message
    }
  }
})
