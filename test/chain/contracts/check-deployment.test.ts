import { expect } from 'chai'
import { encodeFunctionData, parseAbi, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  checkDeployment,
  type CheckedDeployment,
  type DeploymentCheck,
} from '../../../chain/contracts/check-deployment.js'
import { futureAssetAbi, subAccountsAbi } from '../../../chain/abi/contracts.js'
import { createChainClient, type ChainClient } from '../../../chain/reads/client.js'
import { deploymentSchema } from '../../../chain/reads/deployment.js'
import type { Address } from '../../../core/action.js'
import { joinMarket, parseRow } from '../../../data/market-row.js'
import { loadMarkets } from '../../../data/markets.js'
import { rowOfNextSeries } from '../../../data/series-row.js'
import { expiriesFrom } from '../../../core/contracts/future-calendar.js'
import {
  lower,
  openAccount,
  openWorld,
  perform,
  testKey,
  type World,
} from '../../support/devnet-world.js'
import { freePort } from '../../support/free-port.js'
import { noAnswer } from '../../support/silent-node.js'

const admin = parseAbi([
  'function guardian() view returns (address)',
  'function owner() view returns (address)',
  'function setAdjustmentsPaused(bool paused)',
  'function setTradeExecutor(address executor, bool allowed)',
  'function setAllowedModule(address module, bool allowed)',
  'function setTotalPositionCap(address manager, uint256 cap)',
])

/** An address that has never sent anything. */
const SUBMITTER = lower(privateKeyToAccount(testKey(77)).address)
const RESERVE_WEI = 10n ** 16n
const SPOT = 'cNGN-USDC'

describe('checkDeployment', function () {
  let world: World
  let deps: CheckedDeployment
  before(async () => {
    world = await openWorld({}, 'month-end')
    const at = world.at as never
    const { timestamp } = await world.client.getBlock()
    const series = expiriesFrom('month-end', Number(timestamp)).map((expirySec, index) => {
      const row = { ...rowOfNextSeries([], expirySec), ordinal: index + 2 }
      return joinMarket(parseRow(row), at)
    })
    const markets = [...loadMarkets(at).markets, ...series]
    deps = {
      client: createChainClient(world.anvil.rpcUrl, 'read'),
      deployment: deploymentSchema.parse(world.at),
      markets,
      executor: { role: 'executor', address: world.executor, reserveWei: RESERVE_WEI },
      submitters: [],
      nowMs: Date.now,
    }
    await world.client.setBalance({ address: world.executor, value: parseEther('1') })
  })
  after(async () => {
    await world?.anvil.stop()
  })

  /** What is read; deployment-breaks.test.ts has what is tried besides. */
  const findings = async (changed: Partial<CheckedDeployment> = {}): Promise<DeploymentCheck[]> =>
    (await checkDeployment({ ...deps, ...changed })).filter(
      ({ what, result }) => result !== 'ok' && !what.endsWith('passes in a simulation'),
    )

  /** Calls a contract as the account that may. */
  async function administer(
    to: Address,
    role: 'guardian' | 'owner',
    call: Parameters<typeof encodeFunctionData<typeof admin>>[0],
  ): Promise<void> {
    const from = await world.client.readContract({ address: to, abi: admin, functionName: role })
    await world.client.setBalance({ address: from, value: parseEther('1') })
    await perform(world, { from: lower(from), to, data: encodeFunctionData(call) })
  }

  it('finds nothing wrong with a deployment that trades, and names each thing it looked at', async () => {
    expect(await findings()).to.deep.equal([])
    const looked = (await checkDeployment(deps)).map(({ what }) => what)
    expect(looked).to.include.members([
      ...['chain and contracts', 'the executor may settle', 'deposits are allowed'],
      ...['withdrawals are allowed', 'gas of the executor', `${SPOT}: wiring`],
      ...[`${SPOT}: matches are allowed`, `${SPOT}: prices are fresh`, `${SPOT}: caps leave room`],
      ...[`${SPOT}: fees can be credited`, 'contract wallets can be asked about signatures'],
    ])
  })

  it('does not know of wallets on a node without state overrides', async () => {
    const request = (question: { readonly params?: readonly unknown[] }) =>
      (question.params?.length ?? 0) > 2
        ? Promise.reject(noAnswer('too many arguments, want at most 2'))
        : deps.client.request(question as never)
    const client = { ...deps.client, request } as ChainClient
    expect(await findings({ client })).to.deep.equal([
      {
        what: 'contract wallets can be asked about signatures',
        result: 'unknown',
        detail: `no answer from the chain: signature of ${deps.deployment.subAccounts}`,
      },
    ])
  })

  it('names a submitter without its right and without gas, each with the cure', async () => {
    const submitters = [{ role: 'deposit submitter', address: SUBMITTER, reserveWei: RESERVE_WEI }]
    expect(await findings({ submitters })).to.deep.equal([
      {
        what: 'the deposit submitter is a trade executor',
        result: 'failed',
        detail: `${SUBMITTER} is not a trade executor: setTradeExecutor(${SUBMITTER}, true) on ${world.at.matching}`,
      },
      {
        what: 'gas of the deposit submitter',
        result: 'failed',
        detail: `${SUBMITTER} has 0 wei, its reserve is ${RESERVE_WEI}: send gas money`,
      },
    ])
  })

  it('names a keeper without its right and without gas, each with the cure', async () => {
    const keeper = { role: 'keeper', address: SUBMITTER, reserveWei: RESERVE_WEI }
    const { future_asset: asset } = world.at
    const call = { address: asset, abi: futureAssetAbi, functionName: 'markKeeper' } as const
    const named = lower(await world.client.readContract(call))
    const series = deps.markets.filter(({ assetAddress }) => assetAddress === lower(asset))
    expect(await findings({ keeper })).to.deep.equal([
      {
        what: 'gas of the keeper',
        result: 'failed',
        detail: `${SUBMITTER} has 0 wei, its reserve is ${RESERVE_WEI}: send gas money`,
      },
      ...series.map(({ market }) => ({
        what: `${market}: the keeper may do what is due`,
        result: 'failed',
        detail: `${named} moves the marks: setMarkKeeper(${SUBMITTER}) on ${lower(asset)}`,
      })),
    ])
    await world.client.setBalance({ address: named, value: parseEther('1') })
    expect(await findings({ keeper: { ...keeper, address: named } })).to.deep.equal([])
  })

  it('names a series that is open on the chain and has no row', async () => {
    const markets = deps.markets.slice(0, -1)
    const asset = lower(world.at.future_asset)
    expect(await findings({ markets })).to.deep.equal([
      {
        what: `the open series of ${asset} are markets of the venue`,
        result: 'not_listed',
        detail: `no row that is enabled lists ${deps.markets.at(-1)?.subId}: see ./venue market row`,
      },
    ])
    const nowMs = () => Date.now() + 1_000 * 86_400 * 400
    expect((await findings({ markets, nowMs })).map(({ result }) => result)).to.not.include(
      'not_listed',
    )
  })

  it('names accounts with which a keeper cannot take over, and says where it can', async () => {
    const { alice } = world
    const keeper = { role: 'keeper', address: alice.address, reserveWei: 0n }
    const own = await openAccount(world, alice.address, world.at.perp_manager)
    const odd = await openAccount(world, alice.address, world.at.earlier_spot_manager)
    const checks = await checkDeployment({
      ...deps,
      keeper,
      keeperAccounts: [alice.subaccountId, odd, own],
    })
    const ofAccounts = checks.filter(({ what }) => what.startsWith("the keeper's account"))
    expect(ofAccounts).to.deep.equal([
      {
        what: `the keeper's account ${alice.subaccountId}`,
        result: 'failed',
        detail: `${lower(world.at.matching)} owns it: transfer its NFT to ${alice.address}, out of matching where it is there`,
      },
      {
        what: `the keeper's account ${odd}`,
        result: 'failed',
        detail: `it is under ${lower(world.at.earlier_spot_manager)}, the manager of no market`,
      },
      {
        what: `the keeper's account ${own}`,
        result: 'ok',
        detail: 'takes over in cNGN-PERP',
      },
    ])
    const opens = checks.find(({ what }) => what.endsWith('who opens the next series'))
    expect(opens?.detail).to.equal('another key than the keeper, by hand')
  })

  it('names a pause, a module that is not allowed and a right that was taken away', async () => {
    const { matching, spot_manager: manager, deposit_module: module } = world.at
    const batch = world.at.batch_executor ?? world.executor
    const set = async (value: boolean) => {
      await administer(manager, 'guardian', {
        abi: admin,
        functionName: 'setAdjustmentsPaused',
        args: [!value],
      })
      await administer(matching, 'owner', {
        abi: admin,
        functionName: 'setAllowedModule',
        args: [module, value],
      })
      await administer(matching, 'owner', {
        abi: admin,
        functionName: 'setTradeExecutor',
        args: [batch, value],
      })
    }
    await set(false)
    const found = await findings()
    expect(found.map(({ what }) => what)).to.include.members([
      ...['the executor may settle', 'deposits are allowed', `${SPOT}: matches are allowed`],
    ])
    const detailOf = (what: string) => found.find((check) => check.what === what)?.detail
    expect(detailOf(`${SPOT}: matches are allowed`)).to.equal(
      `manager ${manager} is paused: its guardian ends that: setAdjustmentsPaused(false)`,
    )
    expect(detailOf('deposits are allowed')).to.equal(
      `the deposit module is not allowed: setAllowedModule(${module}, true) on ${matching}`,
    )
    await set(true)
    expect(await findings()).to.deep.equal([])
  })

  it('names an account for fees that the module may not credit', async () => {
    const { sub_accounts: subAccounts, spot_trade_module: module, wrapped_usdc: quote } = world.at
    const account = BigInt(world.at.spot_fee_subaccount_id)
    const owner = lower(
      await world.client.readContract({
        address: subAccounts,
        abi: subAccountsAbi,
        functionName: 'ownerOf',
        args: [account],
      }),
    )
    await world.client.setBalance({ address: owner, value: parseEther('1') })
    const allow = async (positive: bigint) => {
      const args = [account, module, [{ asset: quote, positive, negative: 0n }]] as const
      const call = { abi: subAccountsAbi, functionName: 'setAssetAllowances', args } as const
      await perform(world, { from: owner, to: subAccounts, data: encodeFunctionData(call) })
    }
    await allow(7n)
    expect(await findings()).to.deep.equal([
      {
        what: `${SPOT}: fees can be credited`,
        result: 'failed',
        detail: `${module} may credit 7 of ${quote} to account ${account}: setAssetAllowances(${account}, ${module}, …) on ${subAccounts}, as ${owner}`,
      },
    ])
    await allow(10n ** 18n)
    expect(await findings()).to.deep.equal([])
  })

  it('names prices that have become old, and no market without prices', async () => {
    const later = await findings({ nowMs: () => Date.now() + 86_400_000 })
    const held = later.filter(({ what }) => what.endsWith(': prices are fresh'))
    expect(held.map(({ what }) => what)).to.include('cNGN-PERP: prices are fresh')
    expect(held.map(({ what }) => what)).to.not.include(`${SPOT}: prices are fresh`)
    for (const { detail } of held) expect(detail).to.match(/^held: \w+; /)
  })

  it('says of everything that it is unknown where no node answers, and of another chain what differs', async () => {
    const client = createChainClient(`http://127.0.0.1:${await freePort()}`, 'read')
    const unknown = await checkDeployment({ ...deps, client })
    expect(new Set(unknown.map(({ result }) => result))).to.include('unknown')
    expect(unknown.filter(({ result }) => result === 'failed')).to.deep.equal([])
    const deployment = { ...deps.deployment, chainId: 1 }
    const [{ detail = '' } = {}] = await findings({ deployment })
    expect(detail).to.match(
      /^the deployment is on chain 1, the node on \d+; correct DEPLOYMENT_FILE or RPC_URL$/,
    )
  })
})
